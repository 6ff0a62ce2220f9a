import { randomBytes } from 'node:crypto'
import type { Hex } from '@tandem/base/bytes.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { checksumAddress } from '../../keccak.ts'
import { EXPLORER_LIMITS } from '../../limits.ts'
import type { ContractStore, VerifiedContract } from '../../store/contract-store.ts'
import type { CompilerBuild, CompilerList } from '../compiler/compiler-list.ts'
import type { DeployedContract } from '../match/match-contract.ts'
import { isVerificationRefusal, refuseVerification, type VerificationRefusal } from '../verification-error.ts'
import { type SourceSubmission, verifySource } from '../verify-source.ts'
import { SourceAllowance } from './source-allowance.ts'
import { VerificationQueue } from './verification-queue.ts'

/** Code of a contract on the chain, with its hash and the transaction that created it; null: that is not known. */
export interface ContractCode extends DeployedContract {
  readonly codeHash: Hex
  readonly creationTransaction: Hex | null
}

interface VerifierOptions {
  readonly compilers: CompilerList
  readonly contracts: ContractStore
  readonly contractCode: (address: Hex) => Promise<ContractCode>
  /** undefined: there is no code. */
  readonly codeHash: (address: Hex) => Promise<Hex | undefined>
  /** Returns true when the last creation of the contract on the chain is that transaction. */
  readonly isCreatedBy: (address: Hex, transaction: Hex) => Promise<boolean>
  readonly nowMs: () => number
  readonly logger: Logger
  readonly queue?: VerificationQueue
  readonly allowance?: SourceAllowance
}

export interface VerificationJob {
  readonly id: string
  readonly address: Hex
  readonly submittedMs: number
  readonly finishedMs: number | null
  /** null: it waits or runs. */
  readonly result: VerifiedMatch | VerificationRefusal | null
}

/** What a finished job tells of a contract. Its sources are in the store: those of a thousand jobs would be gigabytes. */
export type VerifiedMatch = Pick<VerifiedContract, 'match' | 'creationMatch' | 'runtimeMatch' | 'verifiedAt'>

export const isRefused = (result: VerificationJob['result']): result is VerificationRefusal =>
  result !== null && 'code' in result

/** Takes submissions, compiles them one after the other, and keeps what matches. */
export class Verifier {
  readonly #options: VerifierOptions
  readonly #queue: VerificationQueue
  readonly #allowance: SourceAllowance
  readonly #jobs = new Map<string, VerificationJob>()
  readonly #settled = new Map<string, (() => void)[]>()
  #polls = 0

  constructor(options: VerifierOptions) {
    this.#options = options
    this.#queue = options.queue ?? new VerificationQueue()
    this.#allowance = options.allowance ?? new SourceAllowance(options.nowMs)
  }

  get compilers(): readonly string[] {
    return this.#options.compilers.versions
  }

  /** Source code of the contract at an address, as long as it is that contract: the same code of the same creation. */
  async verified(address: Hex): Promise<VerifiedContract | undefined> {
    const contract = await this.#options.contracts.contract(address)
    if (contract === undefined || (await this.#options.codeHash(address)) !== contract.codeHash) return undefined
    const { creationTransaction } = contract
    if (creationTransaction == null) return contract
    return (await this.#options.isCreatedBy(address, creationTransaction)) ? contract : undefined
  }

  /** Returns true when `verified` has the source code of a contract. */
  async isVerified(address: Hex): Promise<boolean> {
    // Most addresses have no row: a name is little to read, sources may be megabytes.
    const name = await this.#options.contracts.contractName(address)
    return name !== undefined && (await this.verified(address)) !== undefined
  }

  /** Queues a submission; returns the id of its job. Throws VerificationRefusal. */
  async submit(submission: SourceSubmission, client: string): Promise<string> {
    const { address } = submission
    const build = await this.#options.compilers.find(submission.compiler)
    if ((await this.#options.codeHash(address)) === undefined)
      throw refuseVerification('NO_CODE', `Unable to locate ContractCode at ${checksumAddress(address)}`)
    if ((await this.verified(address))?.match === 'exact')
      throw refuseVerification('ALREADY_VERIFIED', 'Contract source code already verified')
    this.#allowance.check(client)
    const id = randomBytes(24).toString('hex')
    const job = { id, address, submittedMs: this.#options.nowMs(), finishedMs: null, result: null }
    this.#queue.add(client, () => this.#run(job, client, submission, build))
    this.#keep(job)
    return id
  }

  job(id: string): VerificationJob | undefined {
    return this.#jobs.get(id)
  }

  /** Id of a job of this address that is not finished. */
  pendingJob(address: Hex): string | null {
    for (const job of this.#jobs.values()) if (job.address === address && job.result === null) return job.id
    return null
  }

  /** The job when it is finished, or after a while as it is then. */
  async waitFor(id: string): Promise<VerificationJob | undefined> {
    const { pollMs, polls } = EXPLORER_LIMITS.verification
    if (this.#jobs.get(id)?.result !== null || this.#polls >= polls) return this.#jobs.get(id)
    this.#polls++
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, pollMs)
      const done = (): void => {
        clearTimeout(timer)
        resolve()
      }
      this.#settled.set(id, [...(this.#settled.get(id) ?? []), done])
    })
    this.#polls--
    return this.#jobs.get(id)
  }

  async #run(job: VerificationJob, client: string, submission: SourceSubmission, build: CompilerBuild): Promise<void> {
    const result = await this.#verify(job, client, submission, build).catch((error: unknown) => this.#refusalOf(error))
    this.#keep({ ...job, result, finishedMs: this.#options.nowMs() })
    for (const tell of this.#settled.get(job.id) ?? []) tell()
    this.#settled.delete(job.id)
  }

  async #verify(
    job: VerificationJob,
    client: string,
    submission: SourceSubmission,
    build: CompilerBuild,
  ): Promise<VerifiedMatch> {
    const { contracts, contractCode, nowMs } = this.#options
    if (nowMs() - job.submittedMs > EXPLORER_LIMITS.verification.waitMs)
      throw refuseVerification('QUEUE_FULL', 'too many submissions were waiting; submit again')
    const deployed = await contractCode(job.address)
    const source = await verifySource(submission, build, deployed)
    const before = await this.verified(job.address)
    if (before !== undefined && (before.match === 'exact' || source.match === 'partial'))
      throw refuseVerification('ALREADY_VERIFIED', 'Contract source code already verified')
    const { codeHash, creationTransaction } = deployed
    const contract = { ...source, codeHash, creationTransaction, verifiedAt: Math.floor(nowMs() / 1_000) }
    await contracts.writeContract(contract)
    this.#allowance.stored(client, contract.input.length + contract.abi.length + contract.metadata.length)
    const { match, creationMatch, runtimeMatch, verifiedAt } = contract
    return { match, creationMatch, runtimeMatch, verifiedAt }
  }

  #refusalOf(error: unknown): VerificationRefusal {
    if (isVerificationRefusal(error)) {
      if (error.cause !== undefined) this.#options.logger.warn({ reason: String(error.cause) }, 'a compiler failed')
      return error.detail
    }
    this.#options.logger.error(
      { err: error instanceof Error ? (error.stack ?? error.message) : String(error) },
      'a verification failed',
    )
    return { code: 'UNAVAILABLE', message: 'the explorer failed; its log has the reason' }
  }

  #keep(job: VerificationJob): void {
    this.#jobs.delete(job.id)
    this.#jobs.set(job.id, job)
    const [oldest] = this.#jobs.keys()
    if (this.#jobs.size > EXPLORER_LIMITS.verification.jobs && oldest !== undefined) this.#jobs.delete(oldest)
  }
}
