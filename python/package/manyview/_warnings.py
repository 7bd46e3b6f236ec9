"""Categories of warnings."""


class ManyviewWarning(UserWarning):
    """Something that a user should know about a result."""


class ConvergenceWarning(ManyviewWarning):
    """A factorization reached the maximum number of iterations. The result is usable; more iterations may improve it."""
