"""What must hold whatever dies, hangs or is cut off: proved on real processes and real servers."""
