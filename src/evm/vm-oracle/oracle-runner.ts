import type { TransactionRunner } from '../block/block-runner.ts'

/** Runs transactions through the VM of EthereumJS: the reference, slow, not interruptible. */
export const createOracleRunner = (): TransactionRunner => ({
  async begin(journal, env) {
    const { beginOracleRun } = await import('./oracle.ts')
    const runTransaction = await beginOracleRun(journal, env)
    return (tx, run) => runTransaction(tx, run.gasUsed)
  },
  systemCall: (journal, env) => async call => {
    const { oracleSystemCall } = await import('./oracle.ts')
    return oracleSystemCall(journal, env)(call)
  },
  prepare: () => undefined,
})
