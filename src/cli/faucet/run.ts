import { join, resolve } from 'node:path'
import { systemClock } from '@tandem/base/clock.ts'
import { defined } from '@tandem/base/defined.ts'
import type { FaucetCaps } from '../../config/limits/faucet.ts'
import { NETWORKS, type NetworkParams } from '../../config/networks.ts'
import { startFaucetServer } from '../../faucet/faucet-http.ts'
import { createFaucetNode } from '../../faucet/faucet-node.ts'
import { checkFaucetNetwork, openFaucet } from '../../faucet/open-faucet.ts'
import { createLogger } from '../../node/logging.ts'
import { urlHost, version } from '../../node/version.ts'
import { createClients } from '../../rpc/transport/clients/clients.ts'
import { httpCall } from '../shared/http-call.ts'
import { passwordsFrom } from '../shared/keys/passwords.ts'
import { readKey } from '../shared/keys/read-key.ts'
import type { OutputFlags } from '../shared/options/options.ts'
import { type ProxyFlags, trustProxyOf } from '../shared/options/proxy-options.ts'
import { exitWithError } from '../shared/output.ts'
import { nameListenOption } from '../shared/process/free-port.ts'
import { onEnd } from '../shared/process/parent-process.ts'

/** Parsed options of `tandem faucet`. */
export interface FaucetFlags extends ProxyFlags, OutputFlags, FaucetCaps {
  readonly rpc: string
  readonly key: string
  readonly passwordFile?: string
  readonly datadir: string
  readonly chainId?: number
  readonly host: string
  readonly port: number
}

const paramsOf = ({ chainId = NETWORKS.testnet.chainId }: FaucetFlags): NetworkParams => ({
  ...(chainId === NETWORKS.testnet.chainId ? NETWORKS.testnet : NETWORKS.devnet),
  chainId,
})

/** Serves the faucet until a signal ends it. */
export const runFaucet = async (flags: FaucetFlags): Promise<void> => {
  const params = paramsOf(flags)
  checkFaucetNetwork(params)
  const clients = createClients(trustProxyOf(flags))
  const passwords = passwordsFrom(flags.passwordFile)
  const { privateKey } = await readKey(flags.key, '--key', name => passwords.of(name))
  const logger = createLogger({ level: flags.logLevel, format: flags.json ? 'json' : 'pretty' })
  const service = await openFaucet({
    params,
    privateKey,
    node: createFaucetNode(httpCall(flags.rpc)),
    storePath: join(resolve(flags.datadir), 'grants.sqlite'),
    caps: defined({ dailyGrants: flags.dailyGrants, clientGrants: flags.clientGrants }),
    onFatal: error => {
      exitWithError(error)
      process.exit()
    },
    clock: systemClock,
    logger,
  })
  const { name: network, symbol } = params
  const server = await startFaucetServer({
    host: flags.host,
    port: flags.port,
    open: async () => service,
    site: { network, symbol, version, faucet: true },
    clientOf: ({ raw }) => clients.idOf(raw),
    clock: systemClock,
  }).catch(async error => {
    await service.stop()
    throw await nameListenOption(error)
  })
  // A second signal ends the process at once.
  const forget = onEnd(() => {
    forget()
    void server
      .close()
      .then(() => service.stop())
      .catch(exitWithError)
      .finally(() => process.exit())
  })
  announce(flags, { url: `http://${urlHost(flags.host)}:${server.port}/faucet`, address: service.address, params })
}

const announce = (
  { json, rpc }: FaucetFlags,
  { url, address, params }: { readonly url: string; readonly address: string; readonly params: NetworkParams },
): void => {
  const { chainId, name } = params
  if (json) {
    process.stdout.write(`${JSON.stringify({ ready: true, faucet: url, address, chainId })}\n`)
    return
  }
  process.stdout.write(
    `\nTandem ${version} faucet of ${name}\n\n  Page        ${url}\n  Pays from   ${address}\n  Node        ${rpc}\n  Chain id    ${chainId}\n\nCtrl-C stops it.\n\n`,
  )
}
