import { systemClock } from '@tandem/base/clock.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { expect } from 'vitest'
import type { NetworkParams } from '../../src/config/networks.ts'
import { startNode } from '../../src/node/node.ts'
import type { NodeOptions, RunningNode } from '../../src/node/options.ts'
import { devGenesis, VALIDATOR_KEY } from './chain.ts'
import { rpc, withTempDir } from './devnet.ts'

export type Ask = <T = unknown>(method: string, ...params: unknown[]) => Promise<T>

export interface DevNode {
  readonly dataDir: string
  readonly urls: RunningNode['urls']
  stop(): Promise<void>
}

export type DevNodeOptions = Partial<NodeOptions> & { readonly params?: Partial<NetworkParams> }

/** A whole node of a development chain in this process, in instant mode. Options may depend on its data folder. */
export const withDevNode = (
  use: (ask: Ask, node: DevNode) => Promise<void>,
  choices: DevNodeOptions | ((dataDir: string) => DevNodeOptions) = {},
): Promise<void> =>
  withTempDir(async dataDir => {
    const { params = {}, ...options } = typeof choices === 'function' ? choices(dataDir) : choices
    const genesis = devGenesis()
    const failures: Error[] = []
    const node = await startNode(
      {
        genesis: { ...genesis, params: { ...genesis.params, blockTimeMs: 0, ...params } },
        dataDir,
        execution: 'wasm',
        stateHistory: 'archive',
        host: '127.0.0.1',
        port: 0,
        allowUnprotected: false,
        validatorKey: VALIDATOR_KEY,
        unlocked: [],
        ...options,
      },
      { logger: silentLogger, clock: systemClock, onFatal: error => failures.push(error) },
    )
    try {
      await use((method, ...args) => rpc(node.urls.http, method, args), {
        dataDir,
        urls: node.urls,
        stop: () => node.stop(),
      })
    } finally {
      await node.stop()
    }
    expect(failures).toEqual([])
  })
