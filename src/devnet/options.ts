import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { defined } from '@tandem/base/defined.ts'
import type { Genesis } from '../config/genesis/genesis.ts'
import { addressFromPrivateKey } from '../crypto/signature.ts'
import { devnetGenesis } from '../node/genesis/devnet-genesis.ts'
import type { NodeOptions } from '../node/options.ts'
import { accountsFromMnemonic, TEST_MNEMONIC } from './accounts.ts'
import type { DevnetOptions } from './types.ts'

/** First part of web3_clientVersion, by which tools recognise a development network. */
const CLIENT_NAMES = { anvil: 'anvil', hardhat: 'HardhatNetwork' } as const

/** Accounts on the node's page. */
const SHOWN_ACCOUNTS = 20

const genesisOf = (options: DevnetOptions, { accounts, validatorKey }: DevnetAccounts, isTemporary: boolean): Genesis =>
  devnetGenesis({
    accounts: accounts.map(({ address }) => address.toLowerCase() as Hex),
    balanceWei: options.balance,
    validator: addressFromPrivateKey(validatorKey),
    blockTimeMs: Math.round(options.blockTime * 1000),
    ...defined({ chainId: options.chainId, hardfork: options.hardfork, codeSizeLimit: options.codeSizeLimit }),
    ...{ ethereum: options.ethereum, hasPredeploys: options.predeploys },
    // A persistent chain has the same genesis at every start. Another one's is about now, as test suites expect; its first block is due at once.
    ...(isTemporary && { timestamp: Math.floor(Date.now() / 1_000) - Math.max(1, Math.ceil(options.blockTime)) }),
  })

type DevnetAccounts = Awaited<ReturnType<typeof accountsFromMnemonic>>

/** True for keys that everybody knows, with which any port may sign. */
export const isWellKnown = ({ mnemonic = TEST_MNEMONIC }: Pick<DevnetOptions, 'mnemonic'>): boolean =>
  mnemonic === TEST_MNEMONIC

export const devnetAccounts = ({ mnemonic = TEST_MNEMONIC, accounts }: DevnetOptions): Promise<DevnetAccounts> =>
  accountsFromMnemonic(mnemonic, accounts)

/** Options of the node of a development chain. */
export const devnetNode = (options: DevnetOptions, accounts: DevnetAccounts, isTemporary: boolean) => {
  const named = accounts.accounts.map(({ address, privateKey }) => ({
    address: address.toLowerCase() as Hex,
    privateKey,
  }))
  return {
    genesis: genesisOf(options, accounts, isTemporary),
    ephemeral: isTemporary,
    validatorKey: accounts.validatorKey,
    // The only validator, so no other relies on a vote that its log lost.
    trustMissingLog: true,
    unlocked: options.unlock
      ? named.map(({ address, privateKey }) => ({ address, privateKey: hexToBytes(privateKey) }))
      : [],
    publicSigning: isWellKnown(options),
    ...(options.clientName !== undefined && { clientName: CLIENT_NAMES[options.clientName] }),
    devnet: {
      sameTimestamps: options.sameTimestamps,
      throwOnRevert: options.throwOnRevert,
      ...(isWellKnown(options) && { accounts: named.slice(0, SHOWN_ACCOUNTS) }),
    },
  } satisfies Partial<NodeOptions>
}
