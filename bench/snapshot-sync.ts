/**
 * A snapshot of a large state: made from the flat tables, fetched from another process over the loopback, verified, stored, and loaded
 * into the trie. Prints one JSON line: seconds and rates of each step, and the memory of both processes.
 *   node bench/snapshot-sync.ts [accounts]
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { systemClock } from '@tandem/base/clock.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { SnapshotFolder } from '../src/chain/snapshot/store/snapshot-folder.ts'
import { writeSnapshot } from '../src/chain/snapshot/store/write-snapshot.ts'
import { fetchChunks } from '../src/chain/snapshot/sync/fetch-chunks.ts'
import { SnapshotProgress } from '../src/chain/snapshot/sync/snapshot-progress.ts'
import { startStagingWorker } from '../src/chain/snapshot/workers.ts'
import { NETWORKS } from '../src/config/networks.ts'
import { keccak256 } from '../src/crypto/hash.ts'
import { chunksOf, encodeManifest } from '../src/network/wire/snapshot.ts'
import { encodeCertificate } from '../src/primitives/consensus/certificate.ts'
import { encodeHeader } from '../src/primitives/header.ts'
import { encodeRlpList } from '../src/primitives/rlp/rlp.ts'
import { EMPTY_CODE_HASH, EMPTY_ROOT, encodeAccount } from '../src/state/account.ts'
import { putStateMeta, readStateMeta } from '../src/state/state-meta.ts'
import { openTrie } from '../src/state/trie/load-trie.ts'
import { TrieService } from '../src/state/trie/trie-service.ts'
import { BUCKETS } from '../src/storage/buckets.ts'
import { numberKey } from '../src/storage/keys.ts'
import { Store } from '../src/storage/store.ts'
import { sealedChain } from '../test/support/consensus/sealed-chain.ts'
import { NetNode, until } from '../test/support/network/net-node.ts'

const NUMBER = 60

/** A state of plain accounts after a block whose header has its root. */
const writeState = async (path: string, accounts: number): Promise<void> => {
  const store = await Store.open(path)
  for (let from = 0; from < accounts; from += 20_000) {
    const batch = store.batch()
    for (let index = from; index < Math.min(accounts, from + 20_000); index++) {
      const balance = 10n ** 18n + BigInt(index)
      const row = encodeAccount({ nonce: index & 127, balance, codeHash: EMPTY_CODE_HASH, storageRoot: EMPTY_ROOT })
      batch.put(BUCKETS.account, keccak256(Buffer.from(`account ${index}`)), row)
    }
    await batch.write({ sync: false })
  }
  const trie = await TrieService.open()
  // Without rows the trie is built whatever root is expected.
  const { root } = await openTrie({ store, trie, meta: { number: NUMBER, root: EMPTY_ROOT, oldest: NUMBER } })
  await trie.close()
  const { block, certificate } = sealedChain(NUMBER, () => [0]).at(-1)!
  const batch = store.batch()
  batch.put(BUCKETS.header, numberKey(NUMBER), encodeHeader({ ...block.header, stateRoot: root }))
  batch.put(BUCKETS.certificate, numberKey(NUMBER), encodeCertificate(certificate))
  putStateMeta(batch, { number: NUMBER, root, oldest: NUMBER })
  await batch.write()
  await store.close()
}

/** Answers chunks until it is killed; tells its memory when asked. */
const serve = async (root: string): Promise<void> => {
  const folder = await SnapshotFolder.open(root, NUMBER)
  const node = new NetNode({
    serve: { manifest: async () => folder.manifest, chunk: (_, index) => folder.chunk(index) },
  })
  await node.network.start()
  process.on('message', () => process.send?.({ rss: process.memoryUsage().rss }))
  process.send?.(node.address)
}

const timed = async <T>(work: () => Promise<T>): Promise<readonly [T, number]> => {
  const startedMs = performance.now()
  return [await work(), (performance.now() - startedMs) / 1_000]
}

const rounded = (value: number): number => Math.round(value * 10) / 10
const MIB = 1024 * 1024

const measure = async (dir: string, accounts: number): Promise<object> => {
  const [storePath, root, stagedPath] = [join(dir, 'db'), join(dir, 'snapshots'), join(dir, 'staged')]
  await writeState(storePath, accounts)
  const store = await Store.open(storePath)
  const [made, makeSeconds] = await timed(() => writeSnapshot(store, root, NUMBER))
  await store.close()

  const child: ChildProcess = fork(fileURLToPath(import.meta.url), ['serve', root])
  const [address] = await once(child, 'message')
  const node = new NetNode({ staticPeers: [address] })
  await node.network.start()
  await until('a peer', () => node.network.peerCount === 1)
  const identity = { params: NETWORKS.devnet, foundation: ZERO_ADDRESS, genesisHash: `0x${'00'.repeat(32)}` as const }
  const staging = startStagingWorker(stagedPath, identity)
  const [, fetchSeconds] = await timed(async () => {
    const { answer: manifest } = await node.network.request('getManifest', null)
    if (manifest === null) throw new Error('the peer has its snapshot')
    await staging.call('begin', encodeRlpList([encodeManifest(manifest)]), [])
    const { id } = await SnapshotFolder.open(root, NUMBER)
    const chunks = chunksOf(manifest)
    await fetchChunks({
      network: node.network,
      staging,
      id,
      number: NUMBER,
      from: 0,
      to: chunks,
      done: new Set(),
      progress: new SnapshotProgress({ chunks, done: 0, accounts: 0, slots: 0 }, () => Date.now(), silentLogger),
      clock: systemClock,
      logger: silentLogger,
      stopping: new AbortController().signal,
    })
  })
  const { rss } = process.memoryUsage()
  await staging.call('close')
  await staging.close()
  child.send('memory')
  const [memory] = await once(child, 'message')
  child.kill()
  await node.network.stop()

  const staged = await Store.open(stagedPath)
  const trie = await TrieService.open()
  const [, loadSeconds] = await timed(async () => {
    await trie.attach(staged)
    await openTrie({ store: staged, trie, meta: await readStateMeta(staged) })
  })
  await trie.close()
  await staged.close()
  return {
    accounts,
    chunks: made.chunks,
    mb: rounded(made.bytes / 1e6),
    make: { seconds: rounded(makeSeconds), accountsPerSecond: Math.round(accounts / makeSeconds) },
    fetch: {
      seconds: rounded(fetchSeconds),
      accountsPerSecond: Math.round(accounts / fetchSeconds),
      mbPerSecond: rounded(made.bytes / 1e6 / fetchSeconds),
    },
    trie: { seconds: rounded(loadSeconds) },
    rssMiB: { fetching: Math.round(rss / MIB), serving: Math.round(memory.rss / MIB) },
  }
}

const [mode = '1000000', root = ''] = process.argv.slice(2)
if (mode === 'serve') await serve(root)
else {
  const dir = await mkdtemp(join(tmpdir(), 'tandem-bench-snapshot-'))
  try {
    console.log(JSON.stringify(await measure(dir, Number(mode))))
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
  process.exit()
}
