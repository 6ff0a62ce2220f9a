import type { ExplorerFiles } from '../shared/options/explorer-files.ts'
import type { OutputFlags } from '../shared/options/options.ts'
import type { ProxyFlags } from '../shared/options/proxy-options.ts'

/** Parsed options of `tandem explorer`. */
export interface ExplorerFlags extends ProxyFlags, OutputFlags, ExplorerFiles {
  readonly node: string
  readonly rpcUrl?: string
  readonly datadir: string
  readonly database?: string
  readonly databaseRead?: string
  readonly host: string
  readonly port: number
}
