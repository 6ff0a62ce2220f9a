import { bytesEqual, bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import type { VerifiedContract } from '../store/contract-store.ts'
import { constructorTypes } from './abi/abi-types.ts'
import { decodeParameters } from './abi/abi-values.ts'
import { compileContracts } from './compiler/compile-process.ts'
import type { CompilerBuild } from './compiler/compiler-list.ts'
import { type ContractIdentifier, parseIdentifier, type SourceInput } from './input/standard-input.ts'
import type { CompiledContract } from './match/compiled-contract.ts'
import { type ContractMatch, type DeployedContract, matchContract } from './match/match-contract.ts'
import { refuseVerification } from './verification-error.ts'

/** Submission of a client: the source, compiler and name that a contract is said to have. */
export interface SourceSubmission {
  readonly address: Hex
  readonly input: SourceInput
  /** Long version of the compiler. */
  readonly compiler: string
  /** `file:name`, or the name. */
  readonly contract: string
  /** Empty: they are read from the chain. */
  readonly constructorArguments: Uint8Array
}

/** Result of compiling a submission and comparing it with the contract. */
type VerifiedSource = Omit<VerifiedContract, 'codeHash' | 'creationTransaction' | 'verifiedAt'>

interface Found {
  readonly input: SourceInput
  readonly compiled: CompiledContract
  readonly match: ContractMatch & { readonly matches: true }
}

/** Compiles a submission and compares it with the contract. Throws VerificationRefusal with the reason. */
export const verifySource = async (
  submission: SourceSubmission,
  build: CompilerBuild,
  deployed: DeployedContract,
): Promise<VerifiedSource> => {
  const { input } = submission
  const identifier = parseIdentifier(submission.contract, input)
  const compileAndMatch = (from: SourceInput): Promise<Found | string> => bestMatch(from, identifier, build, deployed)
  let found = await compileAndMatch(input)
  // Libraries given with the submission are part of the metadata. Tools give them also where the contract was linked after compiling.
  const { libraries, ...settings } = input.settings
  if ((typeof found === 'string' || found.match.kind === 'partial') && libraries && Object.keys(libraries).length > 0) {
    const other = await compileAndMatch({ ...input, settings })
    if (typeof other !== 'string' && (typeof found === 'string' || other.match.kind === 'exact'))
      found = namesSameLibraries(other, libraries) ? other : found
  }
  if (typeof found === 'string') throw refuseVerification('NO_MATCH', found)
  refuseWrongArguments(found, submission.constructorArguments)
  return resultOf(submission, build, found)
}

const bestMatch = async (
  input: SourceInput,
  identifier: ContractIdentifier,
  build: CompilerBuild,
  deployed: DeployedContract,
): Promise<Found | string> => {
  const units = await compileContracts(build, input, identifier)
  let reason = `the sources have no contract ${identifier.name} with code`
  let best: Found | undefined
  for (const compiled of units) {
    const match = matchContract(deployed, compiled)
    if (!match.matches) reason = match.reason
    else if (best === undefined || match.kind === 'exact') best = { input, compiled, match }
  }
  return best ?? reason
}

/** Compares the libraries that a submission names with those that the chain's code is linked to. */
const namesSameLibraries = (
  { match }: Found,
  libraries: Readonly<Record<string, Readonly<Record<string, string>>>>,
): boolean =>
  [...match.libraries].every(([qualified, address]) => {
    const colon = qualified.lastIndexOf(':')
    const given = libraries[qualified.slice(0, colon)]?.[qualified.slice(colon + 1)]
    return given === undefined || String(given).toLowerCase() === address
  })

/** Compares submitted constructor arguments with those of the chain; an empty submission leaves them to the chain. */
const refuseWrongArguments = ({ match, compiled }: Found, submitted: Uint8Array): void => {
  const { constructorArguments: actual } = match
  if (submitted.length === 0 || (actual !== undefined && bytesEqual(actual, submitted))) return
  if (actual === undefined)
    throw refuseVerification(
      'WRONG_ARGUMENTS',
      'constructor arguments were given, but the creation of the contract is not known, or has other code; leave them out',
    )
  const values = decodeParameters(constructorTypes(compiled.abi) ?? [], actual)
  throw refuseVerification(
    'WRONG_ARGUMENTS',
    `wrong constructor arguments: the contract was created with ${bytesToHex(actual).slice(2, 2_002) || 'none'}${values && values.length > 0 ? ` (${JSON.stringify(values).slice(1, -1).slice(0, 500)})` : ''}`,
  )
}

const resultOf = (
  { address }: SourceSubmission,
  build: CompilerBuild,
  { input, compiled, match }: Found,
): VerifiedSource => ({
  address,
  match: match.kind,
  creationMatch: match.creation,
  runtimeMatch: match.runtime,
  path: compiled.path,
  name: compiled.name,
  compiler: build.version,
  input: JSON.stringify(input),
  abi: JSON.stringify(compiled.abi),
  metadata: compiled.metadata,
  constructorArguments: match.constructorArguments === undefined ? null : bytesToHex(match.constructorArguments),
  libraries: { ...linkedAddresses(input), ...Object.fromEntries(match.libraries) },
  license: licenseOf(input.sources[compiled.path]?.content ?? ''),
})

/** Libraries of the settings, by `file:name`. */
const linkedAddresses = ({ settings }: SourceInput): Readonly<Record<string, Hex>> =>
  Object.fromEntries(
    Object.entries(settings.libraries ?? {}).flatMap(([file, names]) =>
      Object.entries(names).flatMap(([name, address]) =>
        /^0x[0-9a-fA-F]{40}$/.test(address) ? [[`${file}:${name}`, address.toLowerCase() as Hex]] : [],
      ),
    ),
  )

const LICENSE_MARK = 'SPDX-License-Identifier:'
const LICENSE_CHARACTERS = 80

const licenseOf = (source: string): string | null => {
  const at = source.indexOf(LICENSE_MARK)
  if (at < 0) return null
  const start = at + LICENSE_MARK.length
  const [line = ''] = source.slice(start, start + LICENSE_CHARACTERS).split('\n')
  const text = line.replaceAll(/[^A-Za-z0-9.+() -]/g, '').trim()
  return text === '' ? null : text
}
