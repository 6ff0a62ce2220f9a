import { createRequire } from 'node:module'
import { LogOutput } from '@tandem/base/fs/log-output.ts'
import { type Logger, type LogLevel, loggerAtFirstLine } from '@tandem/base/logger.ts'
import type { DestinationStream } from 'pino'

export interface LoggingOptions {
  readonly level: LogLevel
  /** `pretty` for people, one short line per event; `json` for machines, one object per line. */
  readonly format: 'pretty' | 'json'
  /** Destination of the lines; standard error by default, so that standard output is free for results. */
  readonly destination?: DestinationStream
  /** Colours in the pretty format; by default when the destination is a terminal. */
  readonly colour?: boolean
}

const STANDARD_ERROR = 2

/** Fields of these names are never written, wherever they occur (up to two levels deep). */
const SECRETS = [
  'privateKey',
  'secretKey',
  'secret',
  'seed',
  'mnemonic',
  'password',
  'passphrase',
  'keystore',
  'nodeKey',
  'authorization',
]
const SECRET_PATHS = SECRETS.flatMap(name => [name, `*.${name}`, `*.*.${name}`])

/** Creates the root logger; parts use a child with their name: `logger.child({ module: 'txpool' })`. */
export const createLogger = (options: LoggingOptions): Logger => {
  const output = new LogOutput(STANDARD_ERROR)
  const logger = loggerAtFirstLine(options.level, () => createPino(options, options.destination ?? output))
  output.onLost = lines => logger.warn({ lines }, 'log lines lost: their reader did not keep up')
  return logger
}

const createPino = (options: LoggingOptions, destination: DestinationStream): Logger => {
  const { pino } = createRequire(import.meta.url)('pino') as typeof import('pino')
  return pino(
    {
      level: options.level,
      base: null,
      redact: { paths: SECRET_PATHS, censor: '[redacted]' },
      formatters: { level: label => ({ level: label }), log: withoutBigints },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    options.format === 'json' ? destination : person(destination, options),
  )
}

/** In-process and synchronous: no worker to start, and nothing is lost when the process ends. */
const person = (destination: DestinationStream, options: LoggingOptions): DestinationStream => {
  const { prettyFactory } = createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty')
  const format = prettyFactory({
    colorize: options.colour ?? (options.destination === undefined && usesColour(process.stderr, process.env)),
    translateTime: false,
    customPrettifiers: { time: time => timeOfDay(new Date(String(time))) },
    hideObject: true,
    messageFormat: sentence,
  })
  return { write: line => destination.write(format(line)) }
}

/** Local time as HH:MM:ss.l. */
const timeOfDay = (at: Date): string => {
  const seconds = [at.getHours(), at.getMinutes(), at.getSeconds()].map(part => String(part).padStart(2, '0')).join(':')
  return `${seconds}.${String(at.getMilliseconds()).padStart(3, '0')}`
}

/** Returns true for a terminal, unless NO_COLOR is set to anything (no-color.org). */
export const usesColour = (stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean =>
  stream.isTTY === true && (env['NO_COLOR'] ?? '') === ''

/** `module: message key=value ...`, followed by the stack of an error. */
const sentence = (log: Record<string, unknown>, messageKey: string): string => {
  const { level: _level, time: _time, module, err, [messageKey]: message, ...fields } = log
  let text = module === undefined ? String(message) : `${String(module)}: ${String(message)}`
  for (const key in fields) text += ` ${key}=${shown(fields[key])}`
  // An error of another thread is a text.
  const stack = typeof err === 'string' ? err : (err as { stack?: unknown } | undefined)?.stack
  if (stack !== undefined)
    text += `\n    ${String(stack).replace(/\p{Cc}/gu, found => (found === '\n' ? '\n    ' : ' '))}`
  return text
}

/** Plain words unquoted; everything else as JSON, which also keeps control characters off the terminal. */
const shown = (value: unknown): string =>
  typeof value === 'string' && PLAIN_WORD.test(value) ? value : JSON.stringify(value)
const PLAIN_WORD = /^[\w.:/@+%-]+$/

/** JSON has no bigint: wei and gas are written as decimal strings. */
const withoutBigints = (fields: Record<string, unknown>): Record<string, unknown> => {
  let out = fields
  for (const key in fields) {
    const value = fields[key]
    if (typeof value !== 'bigint') continue
    if (out === fields) out = { ...fields }
    out[key] = value.toString()
  }
  return out
}
