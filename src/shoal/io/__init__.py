"""Tables in and out: frames of other libraries, files and how they are written."""
