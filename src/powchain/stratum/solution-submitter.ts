import type { Hex } from '@tandem/base/bytes.ts'
import type { MiningService } from '../mining/mining-service.ts'
import type { MainHead, ProofPool } from '../proof-pool.ts'
import type { WorkVerifier } from '../work-verifier.ts'
import type { StratumJob } from './core/job-book.ts'

interface SolutionSubmitterOptions {
  readonly service: Pick<MiningService, 'submit'>
  readonly pool: Pick<ProofPool, 'head'>
  readonly verifier: Pick<WorkVerifier, 'keep'>
}

/** Submits the first solution on a tip: others that arrive before its job is over would be siblings. */
export class SolutionSubmitter {
  readonly #options: SolutionSubmitterOptions
  /** Tip whose successor was found here, and the main head then: another object once blocks were taken back, even to the same block. */
  #last: { readonly parentId: Hex; readonly head: MainHead } | undefined

  constructor(options: SolutionSubmitterOptions) {
    this.#options = options
  }

  /** Resolves to true when the header was taken. */
  async submit(job: StratumJob, nonce: Uint8Array, mixHash: Uint8Array, worker: string): Promise<boolean> {
    const { service, pool, verifier } = this.#options
    const { sealHash, template } = job
    const { parentId } = template
    const { head } = pool
    if (parentId === this.#last?.parentId && head === this.#last.head) return false
    this.#last = { parentId, head }
    if (template.version === 2) verifier.keep(sealHash, nonce, mixHash)
    if (await service.submit(template, nonce, mixHash, worker)) return true
    this.#last = undefined
    return false
  }
}
