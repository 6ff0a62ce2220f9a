import { applyPatches } from '../../support/patch.ts'
import { MUTANTS, type MutantName } from './mutants.ts'

/** `NODE_OPTIONS=--import=this MUTANT=name` makes a whole program, and its threads, a mutated one. */
applyPatches(MUTANTS[process.env['MUTANT'] as MutantName].patches)
