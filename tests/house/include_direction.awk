# Reads every source file of a tree (paths relative to its root) and prints one line for each rule broken.
# Which module may see which others, and who owns which library, is docs/development.md in a form that can fail.

BEGIN {
  # module: what it may include of others, transitively
  may["core"] = ""
  may["model"] = "core"
  may["policy"] = "model core"
  may["simulate"] = "policy model core"
  may["codec"] = "model core"
  may["net"] = "core"
  may["kube"] = "net codec model core"
  may["sources"] = "kube net codec model core"
  may["state"] = "sources kube net codec model core"
  may["control"] = "policy state sources kube net codec model core"
  may["server"] = "control policy state sources kube net codec model core"
  may["agent"] = "kube net codec model core"
  may["rehearse"] = "simulate policy kube net codec model core"
  may["cli"] = "rehearse simulate agent server control policy state sources kube net codec model core"

  # library: how its headers begin, and the modules that may include them
  above_model = "policy simulate rehearse codec net kube sources state control server agent cli"
  library("simdjson", "^simdjson(\\.h$|/)", "codec")
  library("nlohmann/json", "^nlohmann/", "codec")
  library("libcurl", "^curl/", "net")
  library("OpenSSL", "^openssl/", "net server")
  library("cpp-httplib", "^httplib\\.h$", "server")
  library("prometheus-cpp", "^prometheus/", "server")
  library("yaml-cpp", "^yaml-cpp/", "kube server")
  library("CLI11", "^CLI/", "cli")
  library("spdlog", "^(spdlog|fmt)/", above_model)
  library("tl::expected", "^tl/expected\\.hpp$", "core " above_model " model")
  library("hiredis", "^hiredis/", "store")
  library("gRPC", "^(grpc|grpc\\+\\+|grpcpp|google/protobuf|podresources)/", "agent")
  # POSIX and Linux headers; anything else that is not C++'s own needs a row above.
  posix = "^((sys|netinet|arpa|net|linux)/[a-z0-9_]+|unistd|fcntl|poll|signal|pthread|netdb|spawn|dirent|malloc|sched)\\.h$"
}

function library(name, pattern, owners) {
  libraries[++count] = name
  begins[count] = pattern
  owned[count] = " " owners " "
}

function broken(rule) {
  print FILENAME ":" FNR ": " rule
}

# The module that a path belongs to; "main" for src/main.cpp.
function module_of(path, parts) {
  split(path, parts, "/")
  if (parts[1] == "include") return parts[3]
  return parts[2] == "main.cpp" ? "main" : parts[2]
}

FNR == 1 {
  module = module_of(FILENAME)
  public = FILENAME ~ /^include\//
  if (module != "main" && !(module in may)) broken("module " module " has no place in the direction of modules")
}

/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
  header = $0
  sub(/^[ \t]*#[ \t]*include[ \t]*[<"]/, "", header)
  sub(/[>"].*/, "", header)
  if (header ~ /^berth\//) {
    split(header, parts, "/")
    if (module == "main" ? parts[2] != "cli" : parts[2] != module && index(" " may[module] " ", " " parts[2] " ") == 0)
      broken(module " may not include " parts[2] " (" header ")")
  } else if ($0 ~ /"/) {
    if (public) broken("a public header includes a private one (" header ")")
    else if (header ~ /\//) broken("private headers are included from their own directory only (" header ")")
    else private_use[FILENAME ":" FNR] = module "/" header
  } else {
    known = header ~ /^[a-z0-9_]+$/ || header ~ posix
    for (i = 1; i <= count; i++) {
      if (header !~ begins[i]) continue
      known = 1
      if (index(owned[i], " " module " ") == 0) broken(module " may not include " libraries[i] " (" header ")")
    }
    if (!known) broken("library of " header " belongs to no module yet")
  }
}

# A private header must be the module's own.
END {
  for (place in private_use) {
    path = "src/" private_use[place]
    if ((getline line < path) < 0) print place ": " path " does not exist: a private header of another module?"
    close(path)
  }
}
