import { useNurseryLimits } from '@tandem/base/worker/nursery.ts'
import { createProgram } from './program.ts'
import { exitWithError } from './shared/output.ts'

useNurseryLimits()

try {
  await createProgram().parseAsync()
} catch (error) {
  exitWithError(error)
}
