import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { verifyChain } from '../../chain/verify-chain.ts'
import { readIdentity } from '../../storage/schema.ts'
import { Store } from '../../storage/store.ts'

/** Runs `tandem db verify`: exit status 0 when everything is consistent, 1 otherwise. */
export const runDbVerify = async (flags: {
  readonly datadir: string
  readonly from: number
  readonly json: boolean
}): Promise<void> => {
  const path = join(resolve(flags.datadir), 'db')
  if (!existsSync(path)) throw new Error(`${resolve(flags.datadir)} holds no chain. Give the --datadir of a node.`)
  const store = await Store.open(path, { createIfMissing: false })
  try {
    await readIdentity(store)
    const report = await verifyChain(store, {
      from: flags.from,
      onProgress: ({ part, done, of }) => {
        if (process.stderr.isTTY)
          process.stderr.write(
            `\r${part} ${done.toLocaleString('en')}${of === undefined ? '' : ` of ${of.toLocaleString('en')}`}   `,
          )
      },
    })
    if (process.stderr.isTTY) process.stderr.write('\r')
    if (flags.json) process.stdout.write(`${JSON.stringify({ ok: report.problems.length === 0, ...report })}\n`)
    else printReport(report)
    if (report.problems.length > 0) process.exitCode = 1
  } finally {
    await store.close()
  }
}

const printReport = (report: Awaited<ReturnType<typeof verifyChain>>): void => {
  for (const problem of report.problems) process.stdout.write(`${problem}\n`)
  const { head, hash, blocks, transactions, accounts } = report
  const verdict = report.problems.length === 0 ? 'consistent' : `${report.problems.length} problems`
  process.stdout.write(
    `${verdict}: head ${head} ${hash}, ${blocks.toLocaleString('en')} blocks, ${transactions.toLocaleString('en')} transactions, ${accounts.toLocaleString('en')} accounts\n`,
  )
}
