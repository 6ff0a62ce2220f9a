import { useNurseryLimits } from '@tandem/base/worker/nursery.ts'
import { createProgram } from './program.ts'
import { exitWithError } from './shared/output.ts'

useNurseryLimits()

createProgram().parseAsync().catch(exitWithError)
