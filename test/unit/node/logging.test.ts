import { CodedError } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { expect, test } from 'vitest'
import { createLogger, type LoggingOptions, usesColour } from '../../../src/node/logging.ts'

const collect = (options: Partial<LoggingOptions>): { logger: Logger; lines: string[] } => {
  const lines: string[] = []
  const destination = { write: (text: string) => void lines.push(text) }
  return { logger: createLogger({ level: 'info', format: 'json', destination, ...options }), lines }
}

test('json: one object a line, with the module of a child', () => {
  const { logger, lines } = collect({})
  logger.child({ module: 'txpool' }).info({ count: 3, wei: 10n ** 20n }, 'hello')
  const line = JSON.parse(lines[0]!)
  expect(line).toMatchObject({ level: 'info', module: 'txpool', count: 3, wei: '100000000000000000000', msg: 'hello' })
  expect(line.time).toMatch(/^\d{4}-\d\d-\d\dT/)
})

test('levels below the chosen one are silent', () => {
  const { logger, lines } = collect({ level: 'warn' })
  logger.debug({}, 'a')
  logger.info({}, 'b')
  logger.warn({}, 'c')
  logger.error({}, 'd')
  expect(lines.map(line => JSON.parse(line).msg)).toEqual(['c', 'd'])
  const silent = collect({ level: 'silent' })
  silent.logger.error({}, 'x')
  expect(silent.lines).toEqual([])
})

test.each(['json', 'pretty'] as const)('%s: keys are never written', format => {
  const { logger, lines } = collect({ format, colour: false })
  const secret = 'do-not-print'
  logger.info({ privateKey: secret, options: { password: secret, deeper: { mnemonic: secret } } }, 'started')
  logger.child({ module: 'keys', secret }).info({}, 'child')
  expect(lines.length).toBe(2)
  expect(lines.join('')).not.toContain(secret)
  expect(lines.join('')).toContain('[redacted]')
})

test('pretty: one short line for a person, colour only when asked', () => {
  const { logger, lines } = collect({ format: 'pretty', colour: false })
  logger.child({ module: 'chain' }).info({ number: 7, transactions: 12 }, 'block committed')
  expect(lines.length).toBe(1)
  expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d\.\d{3} INFO: chain: block committed number=7 transactions=12\n$/)
  logger.warn({ peer: 'a\u001b[2Jb c', hash: '0xab', error: { code: 5 } }, 'odd')
  expect(lines[1]).toContain('odd peer="a\\u001b[2Jb c" hash=0xab error={"code":5}')
  logger.error({ err: 'Error: of a thread\u001b[2J\n  at b' }, 'ended')
  expect(lines[2]).toContain('ended\n    Error: of a thread [2J\n      at b')
  const coloured = collect({ format: 'pretty', colour: true })
  coloured.logger.info({}, 'x')
  expect(coloured.lines[0]).toContain('\u001b[')
})

test.each(['json', 'pretty'] as const)('%s: an error is logged with its code, cause and stack', format => {
  const { logger, lines } = collect({ format, colour: false })
  const cause = new Error('disk full')
  logger.error({ err: new CodedError({ code: 'JOURNAL_FAILED' }, { cause }) }, 'could not write')
  const text = lines.join('')
  for (const part of ['JOURNAL_FAILED', 'disk full', 'logging.test.ts']) expect(text).toContain(part)
})

test('colour is for terminals, and never where NO_COLOR is set', () => {
  expect(usesColour({ isTTY: true }, {})).toBe(true)
  expect(usesColour({ isTTY: true }, { NO_COLOR: '' })).toBe(true)
  expect(usesColour({ isTTY: true }, { NO_COLOR: '1' })).toBe(false)
  expect(usesColour({}, {})).toBe(false)
})
