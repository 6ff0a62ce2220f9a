import { CodedError } from '@tandem/base/errors.ts'
import { runProcess } from '../../../../src/cli/shared/process/run-process.ts'

/* A node that fails while it runs, with the code of the argument. */

await runProcess({
  logLevel: 'silent',
  json: false,
  start: async ({ onFatal }) => {
    setImmediate(() => onFatal(new CodedError({ code: process.argv[2] as string, number: 7, round: 0 })))
    return { stop: async () => {} } as never
  },
  announce: () => {},
})
