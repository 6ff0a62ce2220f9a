import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { checksumAddress } from '../../keccak.ts'
import { standardInput } from '../../verification/input/standard-input.ts'
import { isRefused, type VerificationJob } from '../../verification/jobs/verifier.ts'
import { isVerificationRefusal, type VerificationRefusal } from '../../verification/verification-error.ts'
import { invalidParameter, notFound, notTaken } from '../api-error.ts'
import type { ApiContext, ApiRoute } from '../api-route.ts'
import { contractStatusBody, sourcesOf } from '../contract-status.ts'
import { ADDRESS, arrayOf, BOOLEAN, INTEGER, nullable, shape, TEXT } from '../json-schema.ts'
import { CONTRACT_STATUS_SHAPE } from '../shapes.ts'
import { ADDRESS_PARAMETER, addressOfPath } from './addresses.ts'

const MATCH = nullable({ type: 'string', enum: ['exact', 'partial'] })
const ANY_OBJECT = { type: 'object', additionalProperties: true } as const

const JOB_SHAPE = shape({
  job: TEXT,
  address: ADDRESS,
  isFinished: BOOLEAN,
  match: MATCH,
  code: nullable(TEXT),
  message: nullable(TEXT),
})

const jobBody = ({ id, address, result }: VerificationJob) => ({
  job: id,
  address: checksumAddress(address),
  isFinished: result !== null,
  match: result !== null && !isRefused(result) ? result.match : null,
  code: isRefused(result) ? result.code : null,
  message: isRefused(result) ? result.message : null,
})

const STATUS: Readonly<Record<VerificationRefusal['code'], number>> = {
  INVALID_INPUT: 400,
  UNKNOWN_COMPILER: 400,
  WRONG_ARGUMENTS: 400,
  NO_MATCH: 400,
  COMPILER_FAILED: 400,
  NO_CODE: 404,
  ALREADY_VERIFIED: 409,
  QUEUE_FULL: 429,
  UNAVAILABLE: 503,
}
export const statusOfRefusal = ({ code }: VerificationRefusal): number => STATUS[code]

interface SubmissionBody {
  readonly compilerVersion: string
  readonly contract: string
  readonly input: unknown
  readonly constructorArguments?: string
}

const ARGUMENTS = { type: 'string', pattern: '^(0x)?([0-9a-fA-F]{2})*$', description: 'Left out: read from the chain' }

const submit = async (context: ApiContext, address: Hex, body: unknown, client: string): Promise<unknown> => {
  const { compilerVersion, contract, input, constructorArguments = '' } = body as SubmissionBody
  const { verifier } = context.verification
  try {
    const submission = {
      address,
      input: standardInput(input),
      compiler: compilerVersion,
      contract,
      constructorArguments: hexToBytes(`0x${constructorArguments.replace(/^0x/, '')}`),
    }
    const job = verifier.job(await verifier.submit(submission, client))
    return job && jobBody(job)
  } catch (error) {
    if (!isCoded(error) || !isVerificationRefusal(error)) throw error
    const { code, message } = error.detail
    if (code === 'INVALID_INPUT' || code === 'UNKNOWN_COMPILER') throw invalidParameter(null, message)
    throw notTaken(statusOfRefusal(error.detail), code, message)
  }
}

export const verificationRoutes: readonly ApiRoute[] = [
  {
    path: '/api/contracts/:address/verify',
    summary: 'Verification of the source code of a contract',
    params: ADDRESS_PARAMETER,
    result: CONTRACT_STATUS_SHAPE,
    needsIndex: false,
    handler: (context, { params }) => contractStatusBody(context, addressOfPath(params)),
  },
  {
    method: 'POST',
    path: '/api/contracts/:address/verify',
    summary: 'Submits the source code of a contract, as standard JSON input',
    params: ADDRESS_PARAMETER,
    body: {
      type: 'object',
      properties: {
        compilerVersion: { type: 'string', description: 'Long version, as 0.8.28+commit.7893614a' },
        contract: { type: 'string', description: 'As src/Token.sol:Token' },
        input: ANY_OBJECT,
        constructorArguments: ARGUMENTS,
      },
      required: ['compilerVersion', 'contract', 'input'],
    },
    result: JOB_SHAPE,
    status: 202,
    needsIndex: true,
    handler: (context, { params, body, client }) => submit(context, addressOfPath(params), body, client),
  },
  {
    path: '/api/contracts/:address/source',
    summary: 'Source code of a verified contract',
    params: ADDRESS_PARAMETER,
    result: shape({
      address: ADDRESS,
      name: TEXT,
      path: TEXT,
      compilerVersion: TEXT,
      match: MATCH,
      sources: ANY_OBJECT,
      settings: ANY_OBJECT,
      metadata: nullable(ANY_OBJECT),
      abi: arrayOf({}),
      verifiedAt: INTEGER,
    }),
    needsIndex: false,
    handler: async ({ verification }, { params }) => {
      const contract = await verification.verifier.verified(addressOfPath(params))
      if (contract === undefined) throw notFound('the contract is not verified')
      return {
        address: checksumAddress(contract.address),
        name: contract.name,
        path: contract.path,
        compilerVersion: contract.compiler,
        match: contract.match,
        sources: sourcesOf(contract),
        settings: (JSON.parse(contract.input) as { readonly settings: object }).settings,
        metadata: contract.metadata === '' ? null : (JSON.parse(contract.metadata) as object),
        abi: JSON.parse(contract.abi) as readonly unknown[],
        verifiedAt: contract.verifiedAt,
      }
    },
  },
  {
    path: '/api/verifications/:job',
    summary: 'A submission of source code; waits a moment for its end',
    params: { job: { type: 'string', pattern: '^[0-9a-f]{48}$', description: 'As the submission was answered' } },
    result: JOB_SHAPE,
    needsIndex: false,
    handler: async ({ verification }, { params }) => {
      const job = await verification.verifier.waitFor(params['job'] as string)
      if (job === undefined) throw notFound('there is no such submission')
      return jobBody(job)
    },
  },
  {
    path: '/api/compilers',
    summary: 'Compilers that source code can be verified with',
    result: shape({ versions: arrayOf(TEXT) }),
    needsIndex: false,
    handler: async ({ verification }) => ({ versions: verification.verifier.compilers }),
  },
]
