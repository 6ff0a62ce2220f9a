import { randomUUID } from 'node:crypto'
import { EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import { checksumAddress } from '../../keccak.ts'
import type { VerifiedContract } from '../../store/contract-store.ts'
import { standardInput } from '../../verification/input/standard-input.ts'
import { isRefused, type VerificationJob, type VerifiedMatch } from '../../verification/jobs/verifier.ts'
import { isVerificationRefusal, type VerificationRefusal } from '../../verification/verification-error.ts'
import { type ApiContext, type ApiRoute, StatusAnswer } from '../api-route.ts'
import { sourcesOf } from '../contract-status.ts'
import { type ApiSchema, BOOLEAN, nullable, TEXT } from '../json-schema.ts'
import { ADDRESS_PARAMETER, addressOfPath } from './addresses.ts'
import { statusOfRefusal } from './verification.ts'

/* Routes as version 2 of Sourcify's interface has them, with its names: what Sourcify calls exact_match is an exact match here. */

const CHAIN_PARAMETER = { chainId: { type: 'string', pattern: '^[0-9]{1,20}$', description: 'This chain' } } as const

/** An object of which these members are described; others may come. */
const open = (properties: Readonly<Record<string, ApiSchema>>): ApiSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: true,
})

const MATCH = nullable(TEXT)
const CONTRACT_SHAPE = open({ match: MATCH, creationMatch: MATCH, runtimeMatch: MATCH, chainId: TEXT, address: TEXT })

const MATCH_NAMES = { exact: 'exact_match', partial: 'match', different: null } as const

const matchName = (kind: VerifiedMatch['creationMatch']): string | null => (kind === null ? null : MATCH_NAMES[kind])

const errorOf = (customCode: string, message: string) => ({ customCode, message, errorId: randomUUID() })

const CODES: Readonly<Record<VerificationRefusal['code'], string>> = {
  INVALID_INPUT: 'invalid_parameter',
  UNKNOWN_COMPILER: 'unsupported_compiler_version',
  WRONG_ARGUMENTS: 'no_match',
  NO_MATCH: 'no_match',
  COMPILER_FAILED: 'compiler_error',
  NO_CODE: 'contract_not_deployed',
  ALREADY_VERIFIED: 'already_verified',
  QUEUE_FULL: 'too_many_requests',
  UNAVAILABLE: 'internal_error',
}

const wrongChain = ({ rules }: ApiContext, chainId: string | undefined): StatusAnswer | undefined =>
  chainId === String(rules.chainId)
    ? undefined
    : new StatusAnswer(404, errorOf('unsupported_chain', `this explorer has chain ${rules.chainId} only`))

const contractBody = (context: ApiContext, address: Hex, contract: VerifiedMatch | undefined) => ({
  match: matchName(contract?.match ?? null),
  creationMatch: matchName(contract?.creationMatch ?? null),
  runtimeMatch: matchName(contract?.runtimeMatch ?? null),
  chainId: String(context.rules.chainId),
  address: checksumAddress(address),
  ...(contract && { verifiedAt: timeText(contract.verifiedAt * 1_000) }),
})

const timeText = (ms: number): string => new Date(ms).toISOString().replace(/\.[0-9]{3}Z$/, 'Z')

/** Members that are asked for with `fields`. */
const fieldsOf = (contract: VerifiedContract): Readonly<Record<string, () => unknown>> => ({
  abi: () => JSON.parse(contract.abi),
  sources: () => sourcesOf(contract),
  metadata: () => (contract.metadata === '' ? null : JSON.parse(contract.metadata)),
  stdJsonInput: () => JSON.parse(contract.input),
  compilation: () => ({
    language: 'Solidity',
    compiler: 'solc',
    compilerVersion: contract.compiler,
    compilerSettings: (JSON.parse(contract.input) as { readonly settings: object }).settings,
    name: contract.name,
    fullyQualifiedName: `${contract.path}:${contract.name}`,
  }),
})

const chosenFields = (contract: VerifiedContract, wanted: unknown): object => {
  const names = typeof wanted === 'string' ? wanted.split(',') : []
  const isAll = names.includes('all')
  return Object.fromEntries(
    Object.entries(fieldsOf(contract)).flatMap(([name, read]) =>
      isAll || names.some(text => text === name || text.startsWith(`${name}.`)) ? [[name, read()]] : [],
    ),
  )
}

const jobAnswer = (context: ApiContext, job: VerificationJob) => {
  const { id, address, submittedMs, finishedMs, result } = job
  const contract = result === null || isRefused(result) ? undefined : result
  return {
    isJobCompleted: result !== null,
    verificationId: id,
    jobStartTime: timeText(submittedMs),
    ...(finishedMs !== null && { jobFinishTime: timeText(finishedMs) }),
    contract: contractBody(context, address, contract),
    ...(isRefused(result) && { error: errorOf(CODES[result.code], result.message) }),
  }
}

interface SourcifySubmission {
  readonly stdJsonInput: unknown
  readonly compilerVersion: string
  readonly contractIdentifier: string
}

const submit = async (context: ApiContext, address: Hex, body: unknown, client: string): Promise<unknown> => {
  const { stdJsonInput, compilerVersion, contractIdentifier } = body as SourcifySubmission
  try {
    const input = standardInput(stdJsonInput)
    const submission = {
      address,
      input,
      compiler: compilerVersion,
      contract: contractIdentifier,
      constructorArguments: EMPTY_BYTES,
    }
    return { verificationId: await context.verification.verifier.submit(submission, client) }
  } catch (error) {
    if (!isVerificationRefusal(error)) throw error
    return new StatusAnswer(statusOfRefusal(error.detail), errorOf(CODES[error.detail.code], error.detail.message))
  }
}

export const sourcifyRoutes: readonly ApiRoute[] = [
  {
    method: 'POST',
    path: '/api/v2/verify/:chainId/:address',
    summary: 'Submits source code, as Sourcify takes it',
    params: { ...CHAIN_PARAMETER, ...ADDRESS_PARAMETER },
    body: {
      type: 'object',
      properties: {
        stdJsonInput: { type: 'object', additionalProperties: true },
        compilerVersion: TEXT,
        contractIdentifier: TEXT,
      },
      required: ['stdJsonInput', 'compilerVersion', 'contractIdentifier'],
    },
    result: open({ verificationId: TEXT }),
    status: 202,
    needsIndex: true,
    handler: async (context, { params, body, client }) =>
      wrongChain(context, params['chainId']) ?? submit(context, addressOfPath(params), body, client),
  },
  {
    path: '/api/v2/verify/:job',
    summary: 'A submission, as Sourcify describes it',
    params: { job: { type: 'string', pattern: '^[0-9a-f-]{1,64}$', description: 'As the submission was answered' } },
    result: open({ isJobCompleted: BOOLEAN, verificationId: TEXT, jobStartTime: TEXT, contract: CONTRACT_SHAPE }),
    needsIndex: false,
    handler: async (context, { params }) => {
      const job = await context.verification.verifier.waitFor(params['job'] as string)
      if (job === undefined) return new StatusAnswer(404, errorOf('job_not_found', 'there is no such submission'))
      return jobAnswer(context, job)
    },
  },
  {
    path: '/api/v2/contract/:chainId/:address',
    summary: 'A verified contract, as Sourcify describes it',
    params: { ...CHAIN_PARAMETER, ...ADDRESS_PARAMETER },
    query: {
      fields: { type: 'string', maxLength: 500, description: 'abi, sources, metadata, compilation, stdJsonInput, all' },
    },
    result: CONTRACT_SHAPE,
    needsIndex: false,
    handler: async (context, { params, query }) => {
      const refused = wrongChain(context, params['chainId'])
      if (refused !== undefined) return refused
      const address = addressOfPath(params)
      const contract = await context.verification.verifier.verified(address)
      const body = contractBody(context, address, contract)
      return contract ? { ...body, ...chosenFields(contract, query['fields']) } : new StatusAnswer(404, body)
    },
  },
]
