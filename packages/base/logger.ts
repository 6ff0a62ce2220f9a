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
