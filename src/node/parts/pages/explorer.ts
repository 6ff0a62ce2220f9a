import { join } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { Site } from '@tandem/web/site.ts'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ChainView } from '../../../chain/types.ts'
import type { Genesis } from '../../../config/genesis.ts'
import { COUNCIL_ADDRESS } from '../../../config/networks.ts'
import type { NodePort, UnionMember } from '../../../explorer/api/api-route.ts'
import { networkLabels } from '../../../explorer/chain/network.ts'
import { readPriceConfig } from '../../../explorer/price/price-config.ts'
import { readKeys } from '../../../explorer/service/api-keys.ts'
import { addExplorerRoutes } from '../../../explorer/service/explorer-http.ts'
import { ExplorerService } from '../../../explorer/service/explorer-service.ts'
import { readLabels } from '../../../explorer/service/label-file.ts'
import { LiveStream, readLiveParts } from '../../../explorer/service/live-stream.ts'
import { addPageRoutes } from '../../../explorer/service/pages-http.ts'
import { RequestLimiter } from '../../../explorer/service/request-limiter.ts'
import { UnreadAnswers } from '../../../explorer/service/unread-answers.ts'
import { localRules } from '../../../explorer/source/local-rules.ts'
import type { AddressLabel } from '../../../explorer/store/index-store.ts'
import type { RpcCall } from '../../../rpc/server.ts'
import { clientIdOf } from '../../../rpc/transport/clients/client-id.ts'
import { suggestedGasPrice } from '../../../rules/money/base-fee.ts'
import type { Teardown } from '../../teardown.ts'
import { version } from '../../version.ts'

interface ExplorerPartsOptions {
  readonly dataDir: string
  readonly storePath: string
  readonly ephemeral: boolean
  readonly genesis: Genesis
  readonly view: ChainView
  /** Of a block, in the order of its certificate's bitmap. */
  readonly committee: (number: number) => readonly Hex[] | undefined
  /** Directory with more compilers for verifying contracts. */
  readonly solcDirectory?: string | undefined
  /** One API key a line. */
  readonly keysFile?: string | undefined
  /** Names of addresses. */
  readonly labelsFile?: string | undefined
  /** Sources of the price of the native token. */
  readonly priceFile?: string | undefined
  /** false: the first request begins to fill the index. */
  readonly startsAtOnce: boolean
  readonly site: Site
  readonly clock: Clock
  readonly logger: Logger
}

/** The explorer on the port for everybody: answers what adds its routes. */
export const createExplorer = (
  options: ExplorerPartsOptions,
  teardown: Teardown,
): ((app: FastifyInstance, call: RpcCall) => void) => {
  const { dataDir, storePath, ephemeral, genesis, view, keysFile, solcDirectory, startsAtOnce, site, clock, logger } =
    options
  const labels = [...labelsOf(genesis), ...readLabels(options.labelsFile)]
  const price = options.priceFile === undefined ? undefined : readPriceConfig(options.priceFile)
  return (app, call) => {
    const service = new ExplorerService({
      chain: { kind: 'store', path: storePath, params: genesis.params },
      database: { kind: 'sqlite', path: join(dataDir, 'explorer', 'index.sqlite'), ephemeral },
      contractsPath: join(dataDir, 'explorer', 'contracts.sqlite'),
      solcDirectory,
      rules: localRules(genesis),
      version,
      site,
      labels,
      price,
      node: nodePort(options, call),
      logger,
    })
    teardown.add(() => service.close())
    const live = new LiveStream(() => readLiveParts(service))
    teardown.add(() => live.close())
    followHead(view, teardown, { service, live })
    const limiter = new RequestLimiter(readKeys(keysFile), () => clock.nowMs())
    const unread = new UnreadAnswers()
    const http = { service, limiter, unread, clientOf: ({ ip }: FastifyRequest) => clientIdOf(ip) }
    addExplorerRoutes(app, http)
    addPageRoutes(app, { ...http, site, live })
    if (startsAtOnce) service.start()
  }
}

/** Tells index and open pages of every block. */
const followHead = (
  view: ChainView,
  teardown: Teardown,
  { service, live }: { readonly service: ExplorerService; readonly live: LiveStream },
): void => {
  const tell = (onChange: () => void) => (): void => {
    onChange()
    live.onHead()
  }
  teardown.add(view.onCommitted(tell(() => service.onHead())))
  const leave = view.onReplaced?.(tell(() => service.onReplaced()))
  if (leave) teardown.add(leave)
}

const nodePort = ({ view, committee, genesis }: ExplorerPartsOptions, call: RpcCall): NodePort => ({
  gasPriceWei: async () => suggestedGasPrice(view.nextBaseFee(), view.params.baseFee),
  council: async () => unionMembers(view, genesis),
  committee: async (number = view.head().header.number + 1) => committee(number),
  rpc: request => call(request),
})

const unionMembers = (view: ChainView, genesis: Genesis): readonly UnionMember[] =>
  (view.council(view.head().header.number + 1) ?? []).map(
    ({ name, validator, owner, reward, stakeWei, status, admission }) => ({
      name,
      validator,
      owner,
      reward,
      stakeWei,
      isActive: status === 'active',
      // Those of genesis have the first numbers; when the others came is not stored.
      startBlock: admission <= genesis.council.length ? 0 : undefined,
    }),
  )

const labelsOf = ({ council, foundation }: Genesis): readonly AddressLabel[] => [
  ...networkLabels(council, foundation),
  { address: COUNCIL_ADDRESS, name: 'Council' },
]
