# RcppML's NMF until its error is as low as a given one; prints one line of JSON. Called by equal.py.
#
#   Rscript rcppml.R FOLDER WIDTH THREADS ERROR ITERATIONS
#
# FOLDER has indptr.bin, indices.bin (32-bit integers) and data.bin (64-bit floats) of a square matrix. The number of iterations
# that is needed, at most ITERATIONS, is found by bisection, always from the same start; only the last run is reported.
suppressMessages({
  library(Matrix)
  library(RcppML)
})
given <- commandArgs(trailingOnly = TRUE)
folder <- given[1]
width <- as.integer(given[2])
target <- as.numeric(given[4])
most <- as.integer(given[5])
setRcppMLthreads(as.integer(given[3]))

read <- function(name, what, size) {
  path <- file.path(folder, name)
  readBin(path, what, n = file.size(path) / size, size = size)
}
indptr <- read("indptr.bin", "integer", 4)
n <- length(indptr) - 1L
# By columns: the transpose, which has the same errors.
a <- new("dgCMatrix", p = indptr, i = read("indices.bin", "integer", 4), x = read("data.bin", "double", 8), Dim = c(n, n))
norm <- sum(a@x^2)

run <- function(iterations) {
  seconds <- system.time(
    # RcppML stops at a negative tolerance never, so that the number of iterations decides.
    found <- nmf(a, width, tol = -1, maxit = iterations, verbose = FALSE, seed = 1)
  )[["elapsed"]]
  w <- found$w %*% diag(found$d, width)
  cross <- sum(as.matrix(a %*% t(found$h)) * w)
  fitted <- sum(crossprod(w) * tcrossprod(found$h))
  list(seconds = seconds, error = (norm - 2 * cross + fitted) / norm)
}

high <- 5L
best <- run(high)
while (best$error > target && high < most) {
  high <- min(2L * high, most)
  best <- run(high)
}
low <- high %/% 2L
while (best$error <= target && high - low > 1L) {
  middle <- (low + high) %/% 2L
  tried <- run(middle)
  if (tried$error <= target) {
    high <- middle
    best <- tried
  } else {
    low <- middle
  }
}
cat(sprintf('{"seconds": %.6f, "error": %.8f, "iterations": %d}\n', best$seconds, best$error, high))
