import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { claimPortBlock } from '../../../../src/cli/localnet/ports.ts'
import { isPortFree } from '../../../../src/cli/shared/process/free-port.ts'

const LOOPBACK = '127.0.0.1'
const portsOf = (first: number): readonly number[] => Array.from({ length: 10 }, (_, index) => first + index)

test('blocks that are claimed at once share no port, and are free but for the last one, which the claim holds', async () => {
  const blocks = (await Promise.all(Array.from({ length: 100 }, () => claimPortBlock(LOOPBACK)))).map(portsOf)
  expect(new Set(blocks.flat()).size).toBe(1_000)
  for (const ports of blocks.slice(0, 10)) {
    const free = await Promise.all(ports.map(port => isPortFree(port, LOOPBACK)))
    expect(free).toEqual([...Array(9).fill(true), false])
  }
})

test('no port is one that the system assigns to connections', async () => {
  const [low = 0] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s+/).map(Number)
  // On a system that assigns nearly all of them there is no choice.
  if (low <= 11_000) return
  for (let index = 0; index < 50; index++) expect((await claimPortBlock(LOOPBACK)) + 9).toBeLessThan(low)
})

test('an address that this machine does not have is told at once', async () => {
  await expect(claimPortBlock('203.0.113.1')).rejects.toMatchObject({ code: 'EADDRNOTAVAIL', address: '203.0.113.1' })
})
