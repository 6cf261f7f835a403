package main

// survivors gives the reason why the proof does not notice a mutant, by its
// name. The list shrinks: a mutant that is killed after all is a problem.
var survivors = map[string]string{}
