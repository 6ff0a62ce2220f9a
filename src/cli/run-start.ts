import { resolve } from 'node:path'
import { type Genesis, parseGenesis } from '../config/genesis.ts'
import { NETWORKS } from '../config/networks.ts'
import { addressOf } from '../crypto/signature.ts'
import type { RunningNode } from '../node/options.ts'
import { version } from '../node/version.ts'
import { readKey, readPasswords, readText } from './keys.ts'
import { runNode } from './run-node.ts'
import type { StartFlags } from './start.ts'

/** Starts a node of a network on a genesis file. */
export const runStart = async (flags: StartFlags): Promise<void> => {
  const genesis = readGenesis(flags)
  const password = readPasswords(flags.passwordFile)
  const { validatorKey: file } = flags
  const validatorKey = file === undefined ? null : await readKey(file, '--validator-key', password(0))
  const unlocked = await readUnlocked(flags.unlock ?? [], password, file === undefined ? 0 : 1)
  if (validatorKey) checkMember(genesis, validatorKey)
  await runNode({
    flags,
    node: {
      genesis,
      dataDir: resolve(flags.datadir),
      validatorKey,
      trustMissingLog: flags.trustMissingLog,
      unlocked,
      operatorPort: flags.operatorPort,
    },
    announce: node => (flags.json ? announceJson(node, genesis) : announceText(node, genesis, flags)),
  })
}

const readGenesis = (flags: StartFlags): Genesis => {
  if (flags.genesis === undefined) {
    throw new Error(
      `--network ${flags.network} needs --genesis FILE: its first council and allocation are not part of this program. ` +
        (NETWORKS[flags.network].needsGenesisFile
          ? 'Ask the network for its file.'
          : 'For a chain of your own at once, use "tandem devnet".'),
    )
  }
  const genesis = parseGenesis(readText(flags.genesis, '--genesis'))
  if (genesis.style.format === 'geth') {
    throw new Error(
      `${flags.genesis} is a geth-style genesis, which names no council: a network starts from a file with "format": "tandem/1".`,
    )
  }
  if (genesis.params.name !== flags.network) {
    throw new Error(
      `${flags.genesis} is a genesis of ${genesis.params.name}, not of ${flags.network}: give --network ${genesis.params.name} or another file.`,
    )
  }
  return genesis
}

/** Keys the node signs with when asked, in the order of the files; their passwords follow that of the validator's key. */
const readUnlocked = async (files: readonly string[], password: (index: number) => string | undefined, first: number) =>
  Promise.all(
    files.map(async (file, index) => {
      const privateKey = await readKey(file, '--unlock', password(first + index))
      return { address: addressOf(privateKey), privateKey }
    }),
  )

const checkMember = (genesis: Genesis, key: Uint8Array): void => {
  const address = addressOf(key)
  if (genesis.council.some(({ validator }) => validator === address)) return
  throw new Error(`The validator key is that of ${address}, which is not in the council of the genesis file.`)
}

const announceJson = (node: RunningNode, genesis: Genesis): void => {
  const { urls, genesisHash } = node
  process.stdout.write(
    `${JSON.stringify({ ready: true, ...urls, chainId: genesis.params.chainId, genesisHash, accounts: [] })}\n`,
  )
}

const announceText = (node: RunningNode, genesis: Genesis, flags: StartFlags): void => {
  const { urls, genesisHash } = node
  const lines = [
    `Tandem ${version} ${genesis.params.name}`,
    '',
    `  HTTP        ${urls.http}`,
    `  WebSocket   ${urls.ws}`,
    ...(urls.operator ? [`  Operator    ${urls.operator} (loopback only)`] : []),
    ...(urls.metrics ? [`  Metrics     ${urls.metrics}`] : []),
    `  Chain id    ${genesis.params.chainId}`,
    `  Genesis     ${genesisHash}`,
    `  Data        ${resolve(flags.datadir)}`,
    `  Role        ${flags.validatorKey === undefined ? 'follows the chain' : 'validator'}`,
  ]
  process.stdout.write(`\n${lines.join('\n')}\n\n`)
}
