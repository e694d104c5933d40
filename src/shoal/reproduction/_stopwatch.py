"""What each step of a release costs the processor, which a busy machine does not change much."""

import time


class Stopwatch:
    """Watches a release being made; the seconds of each step are those of all threads."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._step, self._began = "", 0.0

    def __call__(self, step: str, share: float) -> None:  # noqa: ARG002 - only steps matter here
        """A step has begun, or is further on."""
        if step != self._step:
            now = time.process_time()
            self.seconds[self._step] = self.seconds.get(self._step, 0.0) + now - self._began
            self._step, self._began = step, now
