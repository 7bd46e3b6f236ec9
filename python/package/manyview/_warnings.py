"""What the library has to say without failing."""


class ManyviewWarning(UserWarning):
    """Something a person should read about a result."""


class ConvergenceWarning(ManyviewWarning):
    """A stage used all its iterations; the result is usable, more iterations may improve it."""
