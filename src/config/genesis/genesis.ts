import { EMPTY_BYTES, type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { COUNCIL_ADDRESS, HISTORY_ADDRESS, NETWORKS, type NetworkName, type NetworkParams } from '../networks.ts'
import { COUNCIL_BOUNDS, GENESIS_BOUNDS } from '../protocol-bounds.ts'
import { readAlloc } from './alloc.ts'
import { GenesisValue } from './json-reader.ts'
import { overriddenParamsText, readParams } from './param-overrides.ts'
import { PREDEPLOYS, predeployedAccounts } from './predeploys.ts'
import type { CouncilMember, Genesis } from './types.ts'

export type { CouncilMember, Genesis, GenesisAccount, GenesisError } from './types.ts'

export const TANDEM_FORMAT = 'tandem/1'

const GETH_FORM = `it has geth's form, which names no council: a network starts from a file with "format": "${TANDEM_FORMAT}"`

const MEMBERS = [
  'format',
  'network',
  'chainId',
  'timestamp',
  'extraVanity',
  'council',
  'foundation',
  'alloc',
  'predeploys',
  'params',
]
/** The stakes of a whole council fit one balance. */
const MAX_STAKE = 2n ** 128n
const COUNCIL_MEMBERS = ['name', 'validator', 'owner', 'reward', 'stake']

/** Parses the text of a genesis file. Throws CodedError<GenesisError>. */
export const parseGenesis = (text: string): Genesis => {
  const root = GenesisValue.fromText(text)
  const format =
    root.optional('format') ??
    root.fail(root.optional('config') ? GETH_FORM : `"format": "${TANDEM_FORMAT}" is missing`)
  if (format.value !== TANDEM_FORMAT)
    format.fail(`this binary reads "${TANDEM_FORMAT}": use the binary that made the file`)
  root.only(MEMBERS)
  const network = readName(root.required('network'), Object.keys(NETWORKS) as NetworkName[])
  const given = readNetworkParams(root, network)
  const council = readCouncil(root.required('council'), given)
  // A validator with others beside it cannot revert blocks.
  const params = { ...given, devHelpers: given.devHelpers && council.length === 1 }
  return {
    vanity: root.optional('extraVanity')?.data(GENESIS_BOUNDS.vanityBytes) ?? EMPTY_BYTES,
    pinnedParams: overriddenParamsText(root.optional('params')?.value, params),
    params,
    timestamp: root.required('timestamp').integer(0),
    alloc: readOwnAlloc(root.required('alloc'), root.optional('predeploys')),
    council,
    foundation: readNonZeroAddress(root.required('foundation')),
  }
}

const readOwnAlloc = (value: GenesisValue, predeploys: GenesisValue | undefined): Genesis['alloc'] => {
  const alloc = readAlloc(value)
  if (alloc.has(COUNCIL_ADDRESS)) value.fail(`${COUNCIL_ADDRESS} is the council's: its account follows from "council"`)
  if (alloc.has(HISTORY_ADDRESS)) value.fail(`${HISTORY_ADDRESS} is the contract of EIP-2935: leave it out`)
  if (predeploys === undefined) return alloc
  const accounts = predeployedAccounts(predeploys.list().map(value => readName(value, PREDEPLOYS)))
  for (const address of accounts.keys())
    if (alloc.has(address)) value.fail(`${address} is one of "predeploys": leave it out`)
  return new Map([...alloc, ...accounts])
}

/** Reads one of some names. */
const readName = <Name extends string>(value: GenesisValue, names: readonly Name[]): Name =>
  names.find(name => name === value.value) ?? value.fail(`want one of ${names.join(', ')}`)

const readNetworkParams = (root: GenesisValue, network: NetworkName): NetworkParams => {
  const base = NETWORKS[network]
  const chainId = root.optional('chainId')
  const id = chainId?.integer(1, GENESIS_BOUNDS.chainId) ?? base.chainId
  // A public network is identified by its chain id, for which wallets sign.
  if (base.needsGenesisFile && id !== base.chainId) {
    chainId?.fail(
      `the chain id of ${network} is ${base.chainId}: leave it out, or use network "devnet" for a chain of your own`,
    )
  }
  const identified = { ...base, chainId: id, networkId: id === base.chainId ? base.networkId : id }
  const overrides = root.optional('params')
  return overrides === undefined ? identified : readParams(overrides, identified)
}

const readCouncil = (value: GenesisValue, params: NetworkParams): readonly CouncilMember[] => {
  const members = value.list().map((entry, index) => readMember(entry, params, index + 1))
  if (members.length === 0) value.fail('want at least one validator')
  if (members.length > COUNCIL_BOUNDS.members) value.fail(`want at most ${COUNCIL_BOUNDS.members} validators`)
  for (const role of ['validator', 'owner'] as const) {
    const seen = new Set<Hex>()
    members.forEach(({ [role]: address }, index) => {
      if (seen.has(address)) value.list()[index]?.fail(`duplicate ${role} ${address}`)
      seen.add(address)
    })
  }
  return members
}

const readMember = (entry: GenesisValue, params: NetworkParams, admission: number): CouncilMember => {
  entry.only(COUNCIL_MEMBERS)
  const stake = entry.required('stake')
  const stakeWei = stake.amount(MAX_STAKE)
  if (stakeWei < params.minStakeWei) stake.fail(`want at least minStakeWei, ${params.minStakeWei} wei`)
  const validator = readNonZeroAddress(entry.required('validator'))
  const owner = entry.optional('owner')
  return {
    name: entry.required('name').text(COUNCIL_BOUNDS.nameBytes),
    validator,
    owner: owner === undefined ? validator : readNonZeroAddress(owner),
    reward: readNonZeroAddress(entry.required('reward')),
    admission,
    stakeWei,
  }
}

const readNonZeroAddress = (value: GenesisValue): Hex => {
  const address = value.address()
  return address === ZERO_ADDRESS ? value.fail('want an address other than zero: payments to zero are lost') : address
}
