import type { LogLevel } from '@tandem/base/logger.ts'

/** Settings of an explorer that a node starts, sent over the channel to the process. */
export interface ExplorerSettings {
  /** WebSocket of the node on the loopback, with the key of its calls. */
  readonly nodeUrl: string
  readonly dataDir: string
  /** The index ends with the chain: it need not outlive a loss of power. */
  readonly ephemeral: boolean
  /** Key of forwarded requests: `x-forwarded-for` is believed beside it alone. */
  readonly forwardKey: string
  /** Returns true when the node serves the faucet too, to which the pages link. */
  readonly hasFaucet: boolean
  /** Methods that the operator switched off for the public. */
  readonly disabledMethods: readonly string[]
  /** Namespaces of the public port. */
  readonly publicNamespaces: readonly string[]
  readonly keysFile?: string | undefined
  readonly labelsFile?: string | undefined
  readonly priceFile?: string | undefined
  readonly solcDirectory?: string | undefined
  readonly logLevel: LogLevel
}
