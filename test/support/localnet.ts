import { readFileSync } from 'node:fs'
import type { Hex } from '@tandem/base/bytes.ts'
import { eventually, type NodeProcess, spawnNode } from './node-process.ts'

export interface LocalnetNode {
  readonly name: string
  readonly http: string
  readonly ws: string
  readonly operator: string
  readonly metrics?: string
  readonly stratum?: string
  readonly pid: number
  readonly validator: Hex | null
  readonly log: string
}

export interface LocalnetReady {
  readonly ready: true
  readonly http: string
  readonly ws: string
  readonly chainId: number
  readonly datadir: string
  readonly seed?: number
  readonly nodes: readonly LocalnetNode[]
  readonly accounts: readonly { readonly address: Hex; readonly privateKey: Hex }[]
}

type Told = Readonly<Record<string, unknown>> & { readonly event: string }

/** `tandem localnet` as a process, on free ports, in shadow mode. */
export class RunningLocalnet {
  readonly process: NodeProcess
  readonly ready: Promise<LocalnetReady>

  constructor(args: readonly string[]) {
    this.process = spawnNode(['localnet', '--port', '0', '--execution', 'shadow', ...args])
    this.ready = this.process.ready as Promise<unknown> as Promise<LocalnetReady>
  }

  /** The JSON events so far. */
  get told(): readonly Told[] {
    const lines = this.process.stdout().split('\n').filter(Boolean)
    return lines.map(line => JSON.parse(line) as Told).filter(({ event }) => event !== undefined)
  }

  /** Waits for an event. A failure names the output until then. */
  async until(what: string, wanted: (event: Told) => boolean, withinMs?: number): Promise<Told> {
    const options = { ...(withinMs !== undefined && { withinMs }), everyMs: 50 }
    return eventually(what, async () => this.told.find(wanted), options).catch((cause: unknown) => {
      throw new Error(`${what} was not told; ${this.process.stdout().slice(-2_000)}`, { cause })
    })
  }
}

/** True while a process runs; false for a zombie. */
export const runs = (pid: number): boolean => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
