import type { TransactionRunner } from '../block/block-runner.ts'

/** Transactions through the VM of EthereumJS: exact by definition, slow, not to be interrupted. */
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
