import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bytesToHex, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { encryptKeystoreJsonSync } from 'ethers'
import { NETWORKS, type NetworkName } from '../../../src/config/networks.ts'
import { keccak256 } from '../../../src/crypto/hash.ts'
import { addressFromPrivateKey } from '../../../src/crypto/signature.ts'
import type { UnsignedTransaction } from '../../../src/primitives/transaction/transaction-encoding.ts'
import { signedRaw } from '../../support/chain.ts'
import { type RunningNode, startNode } from '../../support/devnet.ts'
import { eventually } from '../../support/node-process.ts'
import { type Endpoint, httpEndpoint, socketEndpoint } from './endpoint.ts'

const keyOf = (name: string): Uint8Array => keccak256(new TextEncoder().encode(`interface ${name}`))
const PAYER_KEY = keyOf('payer')
export const PAYER = addressFromPrivateKey(PAYER_KEY)
/** Its key is unlocked at the operator port of the public networks. */
const HELD_KEY = keyOf('held')
export const HELD = addressFromPrivateKey(HELD_KEY)
const VALIDATOR_KEY = keyOf('validator')
const PASSWORD = 'open sesame'
export const NOBODY: Hex = `0x${'0b'.repeat(20)}`
export const EXPLORER_KEY = 'interface-rows-explorer-key'
/** Switched off on the devnet. */
export const DISABLED = 'eth_newPendingTransactionFilter'

/** Emits a log of one topic and leaves a contract that returns 42. */
const CREATION: Hex = '0x600160006000a169602a60005260206000f3600052600a6016f3'

/** A node of a network with transactions of every type in its blocks. */
export interface TestNetwork {
  readonly name: NetworkName
  readonly node: RunningNode
  readonly http: Endpoint
  readonly ws: Endpoint
  readonly operator: Endpoint | undefined
  readonly blockHash: Hex
  readonly blockNumber: Hex
  /** Hashes of transactions in blocks. */
  readonly legacy: Hex
  readonly creation: Hex
  readonly listed: Hex
  readonly dynamic: Hex
  /** Accepted, and in no block, since one before it is missing. */
  readonly waiting: Hex
  /** The waiting transaction as it was signed. */
  readonly waitingRaw: Hex
  readonly contract: Hex
  /** Address of the node's operator. */
  readonly coinbase: Hex
  /** A transaction that no node has seen. */
  fresh(): Hex
  sign(fields: Partial<UnsignedTransaction>): Hex
}

/** Nodes of all networks, for the checks of docs/interface.md. */
export interface TestInterface {
  readonly networks: readonly TestNetwork[]
  /** Public ports: HTTP and WebSocket of every network. */
  readonly endpoints: readonly Endpoint[]
  of(name: NetworkName): TestNetwork
  stop(): Promise<void>
}

const genesisOf = (network: NetworkName): object => {
  const token = 10n ** 18n
  const validator = addressFromPrivateKey(VALIDATOR_KEY)
  const funded = Object.fromEntries([PAYER, HELD].map(who => [who, { balance: (1_000n * token).toString() }]))
  const stake = NETWORKS[network].minStakeWei.toString()
  return {
    format: 'tandem/1',
    network,
    timestamp: 1_735_689_600,
    council: [{ name: 'only', validator, reward: validator, stake }],
    foundation: NOBODY,
    alloc: funded,
  }
}

const commandOf = (network: NetworkName, dir: string): readonly string[] => {
  const file = (name: string, text: string): string => {
    const path = join(dir, name)
    writeFileSync(path, text, { mode: 0o600 })
    return path
  }
  const hex = (key: Uint8Array) => bytesToHex(key).slice(2)
  const account = { address: HELD, privateKey: bytesToHex(HELD_KEY) }
  // An encrypted keystore, as an operator has one; cheap to decrypt.
  const keystore = encryptKeystoreJsonSync(account, PASSWORD, { scrypt: { N: 1 << 12 } })
  if (network === 'devnet')
    return ['devnet', '--port', '0', '--block-time', '0.2', '--operator-port', '0', '--disable-methods', DISABLED]
  return [
    ...['start', '--network', network, '--genesis', file(`${network}.json`, JSON.stringify(genesisOf(network)))],
    ...['--datadir', join(dir, network), '--port', '0', '--operator-port', '0', '--execution', 'shadow'],
    // However long the checks take, early state is there.
    ...['--state-history', 'archive'],
    ...['--validator-key', file('validator', hex(VALIDATOR_KEY)), '--unlock', file('held', keystore)],
    ...['--password-file', file('passwords', `unused\n${PASSWORD}\n`)],
    ...(network === 'mainnet' ? ['--explorer', '--explorer-keys', file('keys', EXPLORER_KEY)] : []),
  ]
}

/** Signs as the payer, and counts its nonces. */
const createSigner = (network: NetworkName, key: Uint8Array) => {
  let nonce = 0
  const { chainId } = NETWORKS[network]
  const sign = (fields: Partial<UnsignedTransaction>): Hex =>
    bytesToHex(signedRaw(key, { chainId, to: NOBODY, value: 1n, ...fields }))
  return { sign, next: (fields: Partial<UnsignedTransaction> = {}) => sign({ nonce: nonce++, ...fields }) }
}

const send = async (http: Endpoint, raw: Hex): Promise<Hex> => {
  const { result, error } = await http.ask('eth_sendRawTransaction', [raw])
  if (error !== undefined) throw new Error(`${http.name}: ${error.message}`)
  return result as Hex
}

type Receipt = { readonly blockHash: Hex; readonly blockNumber: Hex; readonly contractAddress: Hex }

const openNetwork = async (name: NetworkName, dir: string) => {
  const node = await startNode(commandOf(name, dir))
  const http = httpEndpoint(name, node.http)
  const ws = await socketEndpoint(name, node.ws)
  const key = name === 'devnet' ? hexToBytes(node.accounts[0]?.privateKey as Hex) : PAYER_KEY
  const signer = createSigner(name, key)
  const sent = (fields: Partial<UnsignedTransaction>) => send(http, signer.next(fields))
  const legacy = await sent({})
  const creation = await sent({ to: null, value: 0n, data: hexToBytes(CREATION), gasLimit: 200_000n })
  const accessList = [{ address: NOBODY, storageKeys: [] }]
  const listed = await sent({ type: 1, gasLimit: 50_000n, accessList })
  const dynamic = await sent({ type: 2, maxPriorityFeePerGas: 0n })
  const waitingRaw = signer.sign({ nonce: 1_000 })
  const waiting = await send(http, waitingRaw)
  const receiptOf = (hash: Hex) =>
    eventually(
      'a receipt',
      async () => ((await http.ask('eth_getTransactionReceipt', [hash])).result as Receipt | null) ?? undefined,
    )
  await receiptOf(dynamic)
  const { blockHash, blockNumber } = await receiptOf(legacy)
  const { contractAddress: contract } = await receiptOf(creation)
  const coinbase = name === 'devnet' ? undefined : addressFromPrivateKey(VALIDATOR_KEY)
  const network: TestNetwork = {
    ...{
      name,
      node,
      http,
      ws,
      blockHash,
      blockNumber,
      legacy,
      creation,
      listed,
      dynamic,
      waiting,
      waitingRaw,
      contract,
    },
    operator: node.operator === undefined ? undefined : httpEndpoint(name, node.operator, 'operator port'),
    coinbase: coinbase ?? ((await http.ask('eth_coinbase')).result as Hex),
    fresh: () => signer.next(),
    sign: fields => signer.sign(fields),
  }
  return { network, close: () => ws.socket.close() }
}

/** Starts a node of each network. Its folder is removed with `stop`. */
export const startInterface = async (): Promise<TestInterface> => {
  const dir = mkdtempSync(join(tmpdir(), 'tandem-test-'))
  const opened = await Promise.all((['mainnet', 'testnet', 'devnet'] as const).map(name => openNetwork(name, dir)))
  const networks = opened.map(({ network }) => network)
  return {
    networks,
    endpoints: networks.flatMap(({ http, ws }) => [http, ws]),
    of: name => networks.find(network => network.name === name) as TestNetwork,
    async stop() {
      for (const { network, close } of opened) {
        close()
        await network.node.stop()
      }
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
