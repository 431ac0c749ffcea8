#include "berth/cli/cli.h"

int main(int argc, char** argv) { return berth::cli::run(argc, argv); }
