import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { FAUCET_SCRIPT } from '../../../src/faucet/faucet-pages.ts'
import { createProofOfWork } from '../../../src/faucet/proof-of-work.ts'
import { recipient } from '../../support/faucet/rig.ts'

const BEGIN = 1_900_000_000_000

test("the worker of the page finds solutions that the faucet takes, and only those of the puzzle's bits", () => {
  const proofs = createProofOfWork(new Uint8Array(32))
  const solutions: string[] = []
  const self: { onmessage?: (event: object) => void; postMessage: (nonce: string) => void } = {
    postMessage: nonce => solutions.push(nonce),
  }
  runInNewContext(FAUCET_SCRIPT.body.toString(), { self })
  for (let n = 0; n < 20; n++) {
    const { challenge, atMs, bits } = proofs.puzzle(BEGIN + n, 6)
    self.onmessage?.({ data: { challenge, address: recipient(n), bits } })
    proofs.check(recipient(n), { challenge, atMs, nonce: solutions[n] as string }, BEGIN + n, bits)
  }
  expect(solutions).toHaveLength(20)
})
