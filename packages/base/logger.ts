/** Levels of a log, each with all before it. */
export const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** Logger as the parts use it; pino implements it. Constant message plus fields (CONTRIBUTING.md#the-house). */
export interface Logger {
  error(fields: object, message: string): void
  warn(fields: object, message: string): void
  info(fields: object, message: string): void
  debug(fields: object, message: string): void
  child(bindings: Record<string, unknown>): Logger
}

const nothing = () => {}
export const silentLogger: Logger = {
  error: nothing,
  warn: nothing,
  info: nothing,
  debug: nothing,
  child: () => silentLogger,
}

/** Logger that is made with the first line of its level: a quiet start does not wait for it. */
export const loggerAtFirstLine = (level: LogLevel, make: () => Logger): Logger => {
  let made: Logger | undefined
  const logger = (): Logger => (made ??= make())
  const log = (of: Exclude<LogLevel, 'silent'>) =>
    LOG_LEVELS.indexOf(of) > LOG_LEVELS.indexOf(level)
      ? nothing
      : (fields: object, message: string) => logger()[of](fields, message)
  return {
    ...{ error: log('error'), warn: log('warn'), info: log('info'), debug: log('debug') },
    child: bindings => loggerAtFirstLine(level, () => logger().child(bindings)),
  }
}
