import type { LogLevel } from '@tandem/base/logger.ts'
import { createLogger } from '../../../../src/node/logging.ts'

// Writes more to its standard error than a pipe and the waiting lines hold, says so on its standard output, and ends with its input.
const LINES = 3_000
const logger = createLogger({
  level: 'info' satisfies LogLevel,
  format: process.argv[2] === 'json' ? 'json' : 'pretty',
})
for (let number = 0; number < LINES; number++) logger.info({ number, text: 'x'.repeat(1_000) }, 'line')
process.stdout.write('done\n')
process.stdin.on('data', () => logger.info({}, 'another line')).on('end', () => process.exit())
