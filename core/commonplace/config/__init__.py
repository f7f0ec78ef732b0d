"""The configuration: read, checked, merged and explained."""
