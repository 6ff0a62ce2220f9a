import { hexToBytes } from '@tandem/base/bytes.ts'
import { checksumAddress } from '../../keccak.ts'
import type { VerifiedContract } from '../../store/contract-store.ts'
import { parseStandardInput, type SourceInput, singleFileInput } from '../../verification/input/standard-input.ts'
import { isRefused } from '../../verification/jobs/verifier.ts'
import { proxyTarget } from '../../verification/proxies.ts'
import { isVerificationRefusal } from '../../verification/verification-error.ts'
import type { ApiContext } from '../api-route.ts'
import { metadataSettings } from '../contract-status.ts'
import {
  addressParameter,
  integerParameter,
  type ModuleActions,
  type ModuleAnswer,
  moduleFailure,
  moduleList,
  moduleSuccess,
  type Parameters,
  refuseModule,
} from './module-answer.ts'

const NOT_VERIFIED = 'Contract source code not verified'

/** First of some parameters that is given: tools spell them differently. */
const firstOf = (parameters: Parameters, ...names: readonly string[]): string => {
  for (const name of names) if ((parameters.get(name) ?? '') !== '') return parameters.get(name) as string
  return ''
}

const needed = (parameters: Parameters, name: string): string => {
  const text = parameters.get(name) ?? ''
  if (text === '') throw refuseModule(`Missing ${name}`)
  return text
}

const argumentBytes = (parameters: Parameters): Uint8Array => {
  const text = firstOf(parameters, 'constructorarguments', 'constructorarguements').replace(/^0x/, '')
  if (!/^([0-9a-fA-F]{2})*$/.test(text)) throw refuseModule('Invalid constructor arguments: hex digits are needed')
  return hexToBytes(`0x${text}`)
}

const MAX_LIBRARIES = 10

const librariesOf = (parameters: Parameters): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Array.from({ length: MAX_LIBRARIES }, (_, index) => [
      parameters.get(`libraryname${index + 1}`) ?? '',
      parameters.get(`libraryaddress${index + 1}`) ?? '',
    ]).filter(([name]) => name !== ''),
  )

const inputOf = (parameters: Parameters, contract: string): SourceInput => {
  const source = needed(parameters, 'sourcecode')
  const format = parameters.get('codeformat') ?? 'solidity-single-file'
  if (format === 'solidity-standard-json-input') return parseStandardInput(source)
  if (format !== 'solidity-single-file')
    throw refuseModule(`codeformat ${format.slice(0, 40)} is not supported; use solidity-standard-json-input`)
  const evmVersion = parameters.get('evmversion')?.toLowerCase()
  return singleFileInput({
    source,
    name: contract,
    optimizerRuns: parameters.get('optimizationused') === '1' ? integerParameter(parameters, 'runs', 200) : undefined,
    evmVersion: evmVersion === '' || evmVersion === 'default' ? undefined : evmVersion,
    viaIR: ['1', 'true'].includes(parameters.get('viair') ?? ''),
    libraries: librariesOf(parameters),
  })
}

/** Refusals of a submission have status 0, by which tools end with a failure. */
const refusing = async (work: () => Promise<ModuleAnswer>): Promise<ModuleAnswer> => {
  try {
    return await work()
  } catch (error) {
    if (isVerificationRefusal(error)) return moduleFailure(error.detail.message)
    throw error
  }
}

/** A contract as Etherscan describes its source. */
const sourceResult = async (context: ApiContext, contract: VerifiedContract): Promise<object> => {
  const settings = metadataSettings(contract)
  const proxy = await proxyTarget(context, contract.address)
  return {
    // Standard JSON stands in a second pair of braces, by which tools tell it from a single source.
    SourceCode: `{${contract.input}}`,
    ABI: contract.abi,
    ContractName: contract.name,
    ContractFileName: contract.path,
    CompilerVersion: `v${contract.compiler}`,
    CompilerType: 'solc',
    OptimizationUsed: settings.optimization.enabled ? '1' : '0',
    Runs: String(settings.optimization.runs),
    ConstructorArguments: contract.constructorArguments?.slice(2) ?? '',
    EVMVersion: settings.evmVersion ?? 'Default',
    Library: Object.entries(contract.libraries)
      .map(([name, address]) => `${name}:${address}`)
      .join(';'),
    LicenseType: contract.license ?? '',
    Proxy: proxy ? '1' : '0',
    Implementation: proxy?.implementation ?? '',
    SwarmSource: '',
    SimilarMatch: '',
  }
}

const MAX_ADDRESSES = 5

export const contractActions: ModuleActions = {
  getabi: async ({ verification }, parameters) => {
    const contract = await verification.verifier.verified(addressParameter(parameters, 'address'))
    return contract ? moduleSuccess(contract.abi) : moduleFailure(NOT_VERIFIED)
  },
  getsourcecode: async (context, parameters) => {
    const contract = await context.verification.verifier.verified(addressParameter(parameters, 'address'))
    return contract ? moduleSuccess([await sourceResult(context, contract)]) : moduleFailure(NOT_VERIFIED)
  },
  verifysourcecode: (context, parameters, client) =>
    refusing(async () => {
      const contract = needed(parameters, 'contractname')
      const submission = {
        address: addressParameter(parameters, 'contractaddress'),
        input: inputOf(parameters, contract),
        compiler: needed(parameters, 'compilerversion'),
        contract,
        constructorArguments: argumentBytes(parameters),
      }
      return moduleSuccess(await context.verification.verifier.submit(submission, client))
    }),
  checkverifystatus: async ({ verification }, parameters) => {
    const job = await verification.verifier.waitFor(parameters.get('guid') ?? '')
    if (job === undefined) return moduleFailure('Unknown UID')
    if (job.result === null) return moduleFailure('Pending in queue')
    if (!isRefused(job.result)) return moduleSuccess('Pass - Verified')
    return moduleFailure(
      job.result.code === 'ALREADY_VERIFIED' ? 'Already Verified' : `Fail - Unable to verify. ${job.result.message}`,
    )
  },
  verifyproxycontract: async (context, parameters) => {
    const address = addressParameter(parameters, 'address')
    const proxy = await proxyTarget(context, address)
    const expected = parameters.get('expectedimplementation')?.toLowerCase() ?? ''
    if (!proxy?.implementation)
      return moduleFailure(
        'A corresponding implementation contract was unfortunately not detected for the proxy address.',
      )
    if (expected !== '' && expected !== proxy.implementation)
      return moduleFailure(`The implementation is ${checksumAddress(proxy.implementation)}, not the one expected`)
    return moduleSuccess(`proxy-${address.slice(2)}`)
  },
  checkproxyverification: async (context, parameters) => {
    const digits = /^proxy-([0-9a-f]{40})$/.exec(parameters.get('guid') ?? '')?.[1]
    const proxy = digits === undefined ? undefined : await proxyTarget(context, `0x${digits}`)
    if (!proxy?.implementation) return moduleFailure('Unknown UID')
    return moduleSuccess(
      `The proxy's (${checksumAddress(`0x${digits}`)}) implementation contract is found at ${checksumAddress(proxy.implementation)} and is successfully updated.`,
    )
  },
  getcontractcreation: async ({ index, source }, parameters) => {
    const texts = (parameters.get('contractaddresses') ?? '').split(',')
    if (texts.length > MAX_ADDRESSES) throw refuseModule(`Error! Maximum of ${MAX_ADDRESSES} addresses`)
    const found = texts.map(async text => {
      const address = addressParameter(new Map([['address', text.trim()]]), 'address')
      const account = await index.account(address)
      if (!account?.creator || !account.creationTransaction) return []
      const place = await source.locate(account.creationTransaction)
      const row = place && (await index.transaction(place.number, place.index))
      return [
        {
          contractAddress: address,
          contractCreator: row?.from ?? account.creator,
          txHash: account.creationTransaction,
          blockNumber: String(row?.blockNumber ?? account.firstBlock),
          timestamp: String(row?.timestamp ?? 0),
          contractFactory: row === undefined || row.from === account.creator ? '' : account.creator,
          creationBytecode: '',
        },
      ]
    })
    return moduleList((await Promise.all(found)).flat(), 'No data found')
  },
}
