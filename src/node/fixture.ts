import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Genesis } from '../config/genesis.ts'
import { LIMITS } from '../config/limits.ts'
import { createExecutor, type ExecutionMode } from '../evm/executor.ts'
import { createRpcServer } from '../rpc/server.ts'
import { ZERO_ADDRESS } from '../util/bytes.ts'
import { blobPool } from './blob-pool.ts'
import { openRecorded, readRecord } from './open-recorded.ts'
import type { NodeDeps, NodeOptions, RunningNode } from './options.ts'
import { createPoolParts } from './pool.ts'
import { createReads } from './reads.ts'
import { createWallet, nodeInfo } from './services.ts'
import { Teardown } from './teardown.ts'
import { urlHost } from './urls.ts'

export interface FixtureOptions
  extends Pick<NodeOptions, 'host' | 'port' | 'namespaces' | 'allowHosts' | 'cors' | 'evm'> {
  /** In geth's form. */
  readonly genesis: Genesis
  /** RLP of the blocks from 1 on, one after the other. */
  readonly chain: Uint8Array
  /** An empty folder. */
  readonly dataDir: string
  readonly execution: ExecutionMode
}

/** A recorded chain, executed and served by the same state, router and encoders as this node's own. Nobody adds blocks to it. */
export const startFixture = async (options: FixtureOptions, deps: NodeDeps): Promise<RunningNode> => {
  const teardown = new Teardown()
  try {
    return await build(options, deps, teardown)
  } catch (error) {
    await teardown.run()
    throw error
  }
}

/** Nobody votes on a recorded chain. */
const NOBODY = { committee: () => ({ members: [] }), seats: () => [] }

const build = async (options: FixtureOptions, deps: NodeDeps, teardown: Teardown): Promise<RunningNode> => {
  const { genesis, dataDir, host, port } = options
  const { clock, logger, onFatal } = deps
  const part = (module: string) => logger.child({ module })
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const storePath = join(dataDir, 'db')
  const executor = createExecutor({
    mode: options.execution,
    ...(options.evm && { evm: options.evm }),
    logger: part('evm'),
    reproductionDir: join(dataDir, 'shadow'),
  })
  const { params, rules, store, blocks, world, chain } = await openRecorded(readRecord(genesis, options.chain), {
    storePath,
    executor,
    logger: part('chain'),
    onFailure: onFatal,
  })
  teardown.add(() => store.close())
  teardown.add(() => world.close())

  const pool = createPoolParts({
    params,
    head: chain.headBlock.header,
    state: world.head,
    dataDir,
    allowUnprotected: true,
    clock,
    logger: part('txpool'),
  })
  teardown.add(() => pool.recovery.close())
  teardown.add(() => pool.service.close())
  await pool.service.start()

  const genesisHash = (await blocks.block(0))?.hash ?? chain.headBlock.hash
  const reads = createReads(
    {
      storePath,
      evm: options.evm,
      params,
      genesisHash,
      rules,
      store,
      blocks,
      world,
      chain,
      council: NOBODY,
      executor,
      pool,
      coinbase: ZERO_ADDRESS,
      clock,
      part,
      simulationGas: LIMITS.fixture.simulationGas,
    },
    teardown,
  )
  const server = await createRpcServer({
    ...reads,
    pool: blobPool(pool.service, params, () => chain.headBlock.header.number),
    wallet: createWallet([]),
    info: nodeInfo(ZERO_ADDRESS),
    log: part('rpc'),
    health: () => ({ healthy: true, number: chain.headBlock.header.number, syncing: false }),
    host,
    port,
    ...(options.namespaces && { namespaces: options.namespaces }),
    ...(options.cors && { cors: options.cors }),
    ...(options.allowHosts && { hosts: options.allowHosts }),
  })
  teardown.add(() => server.close())
  return {
    genesisHash,
    urls: {
      http: `http://${urlHost(host)}:${server.port}`,
      ws: `ws://${urlHost(host)}:${server.port}${params.wsPaths[0]}`,
    },
    stop: () => teardown.run(),
  }
}
