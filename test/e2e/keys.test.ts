import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { encryptKey } from '../../src/crypto/keys/keystore.ts'
import { addressFromPrivateKey } from '../../src/crypto/signature.ts'
import { consensusFolder, watermarkPath } from '../../src/node/parts/consensus/consensus-folder.ts'
import { run, tandem } from '../support/command.ts'
import { rpc } from '../support/devnet.ts'
import { findFoundry } from '../support/foundry.ts'
import { eventually, type NodeProcess, spawnNode } from '../support/node-process.ts'

const KEY = new Uint8Array(32).fill(0x5a)
const VALIDATOR = addressFromPrivateKey(KEY)
const PASSWORD = { TANDEM_PASSWORD: 'correct horse' }

let dir: string
let genesisHash: Hex
const at = (name: string): string => join(dir, name)
const modeOf = (path: string): number => statSync(path).mode & 0o777

/** The files of a chain of one validator, as an operator makes them; cheap to decrypt, so that the nodes start at once. */
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'tandem-test-'))
  const keystore = await encryptKey(KEY, PASSWORD.TANDEM_PASSWORD, { scryptN: 1_024 })
  writeFileSync(at('validator.json'), JSON.stringify(keystore), { mode: 0o600 })
  const made = await tandem([
    ...[
      'genesis',
      'new',
      '--network',
      'devnet',
      '--chain-id',
      '4242',
      '--validator',
      `${at('validator.json')},name=only`,
    ],
    ...['--fund', `${VALIDATOR}=5`, '--block-time', '0.1', '--out', at('genesis.json'), '--json'],
  ])
  expect(made.stderr).toBe('')
  genesisHash = JSON.parse(made.stdout).genesisHash
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const start = (dataDir: string, env: NodeJS.ProcessEnv = PASSWORD): NodeProcess =>
  spawnNode(
    [
      ...['start', '--network', 'devnet', '--genesis', at('genesis.json'), '--validator-key', at('validator.json')],
      ...['--datadir', at(dataDir), '--port', '0', '--operator-port', '0', '--execution', 'shadow'],
    ],
    { env },
  )
const blockAfter = (http: string, number: number): Promise<number> =>
  eventually('a block', async () => {
    const head = Number(await rpc<Hex>(http, 'eth_blockNumber'))
    return head > number ? head : undefined
  })
const refusal = async (node: NodeProcess): Promise<string> => {
  expect(await node.exited).toBe(1)
  return node.stderr()
}

test('one key signs in one process: the second is refused by name, and kill -9 frees it at once', async () => {
  const first = start('a')
  const ready = await first.ready
  expect(ready).toMatchObject({ genesisHash, chainId: 4_242 })
  expect(await rpc(ready.http, 'eth_getBalance', [VALIDATOR, 'earliest'])).toBe('0x4563918244f40000')
  const head = await blockAfter(ready.http, 0)

  const [sameKey, sameFolder] = await Promise.all([refusal(start('b')), refusal(start('a'))])
  expect(sameKey).toContain(`The validator key of ${VALIDATOR} is in use by process ${first.child.pid}`)
  expect(sameKey).toContain(`with the data folder ${at('a')}`)
  expect(sameFolder).toContain(`is in use by process ${first.child.pid}. Stop that node, or choose another --datadir.`)
  const running = await tandem(['key', 'watermark', 'export', at('running.json'), '--datadir', at('a')])
  expect([running.code, running.stderr]).toEqual([1, expect.stringContaining(`process ${first.child.pid}`)])
  await blockAfter(ready.http, head)

  await first.kill()
  const again = start('a')
  await blockAfter((await again.ready).http, head)
  expect(await again.end('SIGTERM')).toMatchObject({ code: 0 })
  expect(modeOf(watermarkPath(consensusFolder(at('a')), VALIDATOR))).toBe(0o600)

  // To another folder, which then holds what was signed; with the other key file it is the same validator.
  const exported = await tandem(['key', 'watermark', 'export', at('signed.json'), '--datadir', at('a'), '--json'])
  const [signer] = JSON.parse(exported.stdout).signers
  expect(signer).toMatchObject({ validator: VALIDATOR, last: { step: 'commit' } })
  const into = ['key', 'watermark', 'import', at('signed.json'), '--datadir', at('c'), '--genesis', at('genesis.json')]
  const imported = await tandem([...into, '--json'])
  expect(JSON.parse(imported.stdout)).toMatchObject({
    genesisHash,
    signers: [{ validator: VALIDATOR, raised: true, last: { number: Number(signer.last.number), step: 'commit' } }],
  })
  // The watermark is above the blocks of the folder, and no node can supply those: the validator must not go on by itself.
  const moved = start('c')
  await moved.ready
  expect(moved.stderr()).toContain('the consensus log is missing or damaged: following only')
  expect(await moved.end('SIGTERM')).toMatchObject({ code: 0 })
})

test('a password that is wrong or missing ends the start with what to do', async () => {
  const [wrong, none] = await Promise.all([
    refusal(start('w', { TANDEM_PASSWORD: 'other' })),
    refusal(start('w2', { TANDEM_PASSWORD: undefined })),
  ])
  expect(wrong).toMatch(/The password does not open \S+\. Check --password-file or TANDEM_PASSWORD/)
  expect(none).toContain('is encrypted: give its password with --password-file or in TANDEM_PASSWORD')
})

test('a plain key goes on working, with a warning that says what to do', async () => {
  writeFileSync(at('plain'), Buffer.from(KEY).toString('hex'), { mode: 0o600 })
  const node = spawnNode([
    ...['start', '--network', 'devnet', '--genesis', at('genesis.json'), '--validator-key', at('plain')],
    ...['--datadir', at('p'), '--port', '0', '--operator-port', '0', '--execution', 'shadow'],
  ])
  await blockAfter((await node.ready).http, 0)
  expect(node.stderr()).toContain(`${at('plain')} holds the key unencrypted. Run: tandem key import ${at('plain')}`)
  expect(await node.end('SIGTERM')).toMatchObject({ code: 0 })
})

const foundry = findFoundry()
test.runIf('found' in foundry)('cast opens our keystores, and we open those of cast', async () => {
  if (!('found' in foundry)) return
  const { cast } = foundry.found
  const made = await tandem(['key', 'new', '--keystore', at('keys'), '--json'], { env: PASSWORD })
  const { address, file } = JSON.parse(made.stdout) as { address: Hex; file: string }
  expect([modeOf(file), modeOf(at('keys'))]).toEqual([0o600, 0o700])
  const password = ['--password', PASSWORD.TANDEM_PASSWORD]
  const shown = await run(cast, ['wallet', 'address', '--keystore', file, ...password])
  expect(shown.stdout.trim(), shown.stderr).toBe(address)

  const plain = `0x${Buffer.from(KEY).toString('hex')}`
  const theirs = ['wallet', 'import', 'theirs', '--keystore-dir', at('cast'), '--private-key', plain]
  const imported = await run(cast, [...theirs, '--unsafe-password', PASSWORD.TANDEM_PASSWORD])
  expect(imported.code, imported.stderr).toBe(0)
  const revealed = await tandem(['key', 'export', join(at('cast'), 'theirs'), '--reveal'], { env: PASSWORD })
  expect(revealed.stdout.trim(), revealed.stderr).toBe(plain)
  expect(JSON.parse(readFileSync(join(at('cast'), 'theirs'), 'utf8'))).toMatchObject({ version: 3 })
})
