import type { Hex } from '@tandem/base/bytes.ts'
import { checksumAddress } from '../keccak.ts'
import type { VerifiedContract } from '../store/contract-store.ts'
import { proxyTarget } from '../verification/proxies.ts'
import type { ApiContext } from './api-route.ts'
import { checksumOrNull } from './format.ts'
import { accountState } from './routes/addresses.ts'

interface MetadataSettings {
  readonly evmVersion: string | null
  readonly optimization: { readonly enabled: boolean; readonly runs: number }
  readonly viaIR: boolean
}

/** Settings as the compiler used them, with those that were left out. */
export const metadataSettings = ({ metadata }: VerifiedContract): MetadataSettings => {
  const { settings = {} } = (metadata === '' ? {} : JSON.parse(metadata)) as {
    readonly settings?: {
      readonly evmVersion?: string
      readonly optimizer?: { readonly enabled?: boolean; readonly runs?: number }
      readonly viaIR?: boolean
    }
  }
  return {
    evmVersion: settings.evmVersion ?? null,
    optimization: { enabled: settings.optimizer?.enabled === true, runs: settings.optimizer?.runs ?? 200 },
    viaIR: settings.viaIR === true,
  }
}

/** Sources of a verified contract by path. */
export const sourcesOf = ({ input }: VerifiedContract): Readonly<Record<string, { readonly content: string }>> =>
  (JSON.parse(input) as { readonly sources: Readonly<Record<string, { readonly content: string }>> }).sources

/** Describes the parts of a contract that its verification does not prove; null when it proves everything. */
export const unprovenText = ({ match, runtimeMatch, creationMatch }: VerifiedContract): string | null => {
  if (match === 'exact') return null
  // Older records do not tell a creation that differs from one that is not known, except here.
  if (creationMatch === 'different' || (creationMatch === null && runtimeMatch === 'exact'))
    return 'the creation code differs: the constructor, and so the initial state, is not that of this source'
  return 'comments, names or paths may differ, or the code does not name its metadata'
}

/** State of the verification of a contract. */
export const contractStatusBody = async (context: ApiContext, address: Hex) => {
  const { verifier } = context.verification
  const [{ hasCode }, contract, proxy] = await Promise.all([
    accountState(context, address),
    verifier.verified(address),
    proxyTarget(context, address),
  ])
  return {
    address: checksumAddress(address),
    isContract: hasCode,
    ...(contract ? verifiedBody(contract) : UNVERIFIED),
    proxy: proxy ? { isProxy: true, kind: proxy.kind, implementation: checksumOrNull(proxy.implementation) } : null,
    pendingJob: verifier.pendingJob(address),
  }
}

const verifiedBody = (contract: VerifiedContract) => {
  const { evmVersion, optimization, viaIR } = metadataSettings(contract)
  return {
    verified: true,
    match: contract.match,
    runtimeMatch: contract.runtimeMatch,
    creationMatch: contract.creationMatch,
    unproven: unprovenText(contract),
    name: contract.name,
    language: 'Solidity',
    compilerVersion: contract.compiler,
    evmVersion,
    optimization,
    viaIR,
    license: contract.license,
    constructorArguments: contract.constructorArguments,
    libraries: Object.fromEntries(
      Object.entries(contract.libraries).map(([name, address]) => [name, checksumAddress(address)]),
    ),
    verifiedAt: contract.verifiedAt,
    sources: Object.entries(sourcesOf(contract)).map(([path, { content }]) => ({
      path,
      bytes: Buffer.byteLength(content),
    })),
    abi: JSON.parse(contract.abi) as readonly unknown[],
  }
}

const UNVERIFIED = {
  verified: false,
  match: null,
  runtimeMatch: null,
  creationMatch: null,
  unproven: null,
  name: null,
  language: null,
  compilerVersion: null,
  evmVersion: null,
  optimization: null,
  viaIR: null,
  license: null,
  constructorArguments: null,
  libraries: {},
  verifiedAt: null,
  sources: [],
  abi: null,
}
