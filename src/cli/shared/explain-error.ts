import { getSystemErrorMessage } from 'node:util'
import { isDiskError } from '@tandem/base/errors.ts'
import type { ListenError } from './process/free-port.ts'

/** Texts for operators when a command fails, by domain code: the fact, and what to do; other codes are printed with their fields. */
type Detail = { readonly code: string } & Readonly<Record<string, unknown>>

const TEXTS: Readonly<Record<string, (detail: Detail) => string>> = {
  STORE_LOCKED: d => `${d['path']} is in use by ${processOf(d)}. Stop that node, or choose another --datadir.`,
  STORE_CORRUPT: d =>
    `The database in ${d['path']} is damaged: ${d['reason']}. Restore the folder from a copy, or start with an empty --datadir.`,
  STORE_INCOMPLETE: d =>
    `Blocks after ${d['since']} are missing in ${d['path']}: the machine stopped while they were being imported. Remove only that folder and start again: they are fetched from peers again.`,
  STORE_OPEN_FAILED: d =>
    `The database in ${d['path']} cannot be opened: ${d['reason']}. Free disk space, or see that this user may write there, then start again.`,
  STORE_READ_FAILED: d =>
    `Reading the database in ${d['path']} failed: ${d['reason']}. The disk or the folder is damaged: run "tandem db verify", restore a copy, or start with an empty --datadir.`,
  STORE_WRITE_FAILED: d =>
    `Writing to ${d['path']} failed: ${d['reason']}. Free disk space or mend the disk, then start again; nothing committed is lost.`,
  JOURNAL_FAILED: () =>
    'The journal of transactions in the data folder cannot be written; the log has the reason. Free disk space or mend the disk, then start again; nothing accepted is lost.',
  STORE_FOREIGN: d => `${d['path']} holds a database that is not Tandem's. Choose another --datadir.`,
  SCHEMA_UNKNOWN: d =>
    `${d['path']} was written with database schema ${d['found']}, this program knows schema ${d['supported']}. Use the version that wrote it, or an empty --datadir; a start of the node upgrades schema 8.`,
  NETWORK_MISMATCH: d =>
    `${d['path']} holds a chain of network ${d['found']}, not ${d['expected']}. Choose another --datadir.`,
  GENESIS_MISMATCH: d =>
    `${d['path']} holds a chain with genesis ${d['found']}, the options given make genesis ${d['expected']}. Use the genesis file and options it was made with, or another --datadir.`,
  FORKS_CHANGED: d =>
    `${d['path']} holds a chain of ${d['head']} blocks whose fork ${d['fork']} is ${heightText(d['found'])}; the options given have it ${heightText(d['expected'])}, so its blocks would have other results. Start it with the genesis file or --hardfork it was made with, or choose another --datadir.`,
  FORK_MISMATCH: d =>
    `The network decided a proof header that this node's rules refuse: it has the fork ${d['fork']} at another proof height than this node, which has it at ${d['height'] ?? 'no height'}. Upgrade this node, or give the network's own --genesis file, and start again with the same --datadir: nothing stored is lost.`,
  RULES_MISMATCH: d =>
    `The network decided block ${d['number']}, which this node's rules refuse: ${d['reason']}. It lacks a fork of the network, or has one at another height: upgrade it, or give the network's own --genesis file (native_forkStatus of another node tells), and start again with the same --datadir: nothing stored is lost.`,
  STATE_ROOT_MISMATCH: d =>
    `The stored state of block ${d['number']} has root ${d['found']}, its header says ${d['expected']}: the data folder is damaged. Run "tandem db verify", or start with an empty --datadir.`,
  TRIE_FAILED: d =>
    `The state trie failed: ${d['reason']}. Start again: damaged rows of it are built anew from the stored state. If it fails again, run "tandem db verify".`,
  COUNCIL_RECORD_MALFORMED: d =>
    `A council record of the database is damaged: ${d['reason']}. It no longer shows which validators may seal blocks: start with an empty --datadir.`,
  STATE_HEAD_MISMATCH: d =>
    `Blocks stand at ${d['expected']}, state at ${d['found']}: the data folder is damaged. Start with an empty --datadir.`,
  STATE_MALFORMED: d =>
    `The state file is not usable: ${d['reason']}. Give the file of another run, or one that does not exist yet.`,
  STATE_TOO_LARGE: d =>
    `The state is larger than ${d['limitBytes']} bytes: keep the chain with --datadir instead of --state.`,
  GENESIS_INVALID: d =>
    `The genesis file is not usable: ${d['path'] ? `${d['path']}: ` : ''}${d['problem']}. Correct it (docs/genesis.md), or give the network's own file.`,
  FAUCET_ON_MAINNET: d =>
    `The faucet never runs on mainnet (chain id ${d['chainId']}): it gives test tokens away, and mainnet's tokens are not for that. Start without --faucet, or on a test network.`,
  FAUCET_WRONG_CHAIN: d =>
    `The node serves chain ${d['chainId']}, the faucet is for chain ${d['expected']}. Give --rpc of a node of that chain, or --chain-id ${d['chainId']} if that is your development chain.`,
  FAUCET_STORE_LOCKED: d => `${d['path']} is in use by another faucet. Stop that one, or choose another --datadir.`,
  FAUCET_STORE_FOREIGN: d =>
    d['what'] === 'chain'
      ? `${d['path']} holds grants of another chain. Choose another --datadir.`
      : `${d['path']} holds transfers of another key that no block includes yet. Start with that key until they are paid, then change it.`,
  NODE_UNREACHABLE: d => `The node does not respond: ${d['reason']}. Check --rpc (--node) and that the node runs.`,
  NODE_ANSWER_INVALID: d =>
    `The node answers what this program does not understand: ${d['reason']}. Check that --rpc (--node) names a node of Tandem.`,
  INDEX_TOO_NEW: d =>
    `The index in ${d['path']} was written with layout ${d['found']}, this program knows ${d['known']}. Use the version that wrote it, or another --datadir (--database): an index is made from the chain alone.`,
  INDEX_FOREIGN: d =>
    `${d['path']} holds an index of the chain with genesis ${d['found']}, the node has ${d['expected']}. Give --node of a node of that chain, or another --datadir (--database).`,
  INDEX_IN_USE: d =>
    `The index ${d['path']} is in use by another explorer. Stop that one, or choose another --datadir: an index has one writer.`,
  INDEX_UNREADABLE: d =>
    `The index in ${d['path']} cannot be read: ${d['reason']}. It is made from the chain alone: remove the file (and those named like it that end with -wal and -shm), and start again.`,
  LABEL_FILE_INVALID: d =>
    `${d['path']}: ${sentence(d['reason'])} Correct it (docs/explorer.md), or leave the option out.`,
  PRICE_CONFIG_INVALID: d =>
    `${d['path']}: ${sentence(d['reason'])} Correct it (docs/explorer.md#price), or leave the option out.`,
  DATABASE_REFUSED: d => `The database "${d['database']}" cannot be used: ${d['reason']}. ${d['fix']}.`,
  NODE_REFUSED: d =>
    `The node refuses ${d['method']}: ${d['message']}. Is it a node of Tandem that serves the namespace "${String(d['method']).split('_')[0]}"?`,
  WRONG_PASSWORD: d =>
    `The password does not open ${d['file']}. Check --password-file or TANDEM_PASSWORD, or leave both out for a prompt.`,
  BAD_KEYSTORE: d =>
    `${d['file']} is no usable keystore: ${d['reason']}. Give a keystore of version 3 ("tandem key new" writes one), or a file of 64 hex digits.`,
  KEY_IN_USE: d =>
    d['address'] === undefined
      ? `Another node voted with this validator's key at block ${d['number']}, round ${d['round']}: two nodes that vote with one key contradict each other. Find and stop the other one. If this data folder was restored from a copy, those votes are its own later ones: remove its folder consensus, and it follows until it may vote. If it is neither, the key is stolen.`
      : `The validator key of ${d['address']} is in use by ${processOf(d)}${d['dataDir'] ? ` with the data folder ${d['dataDir']}` : ''}: two nodes that vote with one key contradict each other. Stop that node first.`,
  KEY_IN_USE_ELSEWHERE: d =>
    `The validator key of ${d['address']} is in use by another node of the network, ${d['peer']}: two nodes that vote with one key contradict each other, so neither votes. Stop one of them for good, then start the other again.`,
  CHECKPOINT_CONTRADICTED: d =>
    `Block ${d['number']} of this chain is ${d['found']}, --checkpoint says ${d['expected']}. Compare the checkpoint with a trusted source; if it is right, this chain is not the network's: start with an empty --datadir and other peers.`,
  KEY_LOCK_FAILED: d =>
    `The validator key cannot be held for this process alone: ${d['reason']}. Let it open local (unix) sockets.`,
  NODE_KEY_INVALID: d =>
    `${d['path']} holds no node key: ${d['reason']}. Restore it from a copy, or remove it: this node is then a new one to its peers.`,
  PEER_URL_INVALID: d => `${d['url']} is no address of a node: ${d['reason']}.`,
  TOO_MANY_STATIC_PEERS: d => `At most ${d['limit']} peers can be kept in reserved places: name fewer with --peers.`,
  FILE_EXISTS: d => `${d['path']} is there already and is never overwritten. Move it away, or give another name.`,
  FILE_NOT_WRITABLE: d => `${d['path']} cannot be written: ${d['reason']}. Name another file.`,
  NOT_A_FOLDER: d => `${d['path']} is a file, not a folder. Name another.`,
  FOLDER_REFUSED: d => `The folder ${d['path']} cannot be made: its file system takes none there. Name another.`,
  FOLDER_MISSING: d => `The folder ${d['path']} is not there. Make it first, or name another.`,
  SIGNING_RECORD_INVALID: d =>
    `The file is no signing record: ${d['reason']}. Give one that "tandem key watermark export" wrote.`,
  SIGNING_RECORD_FOREIGN: d =>
    `The signing record is for the chain with genesis ${d['found']}, not ${d['expected']}. Give the record and the data folder of one chain.`,
  CHAIN_UNKNOWN: d =>
    `${d['dataDir']} holds no chain yet, so its chain is unknown. Name the chain with --genesis FILE.`,
  WATERMARK_DAMAGED: d =>
    `${d['path']} is damaged, so what was signed last is not known. Start the node: it follows until it is safe to vote again.`,
  SIGNATURE_FOREIGN: d =>
    `The signature at block ${d['number']} is not that of ${d['validator']}: the signing record is damaged or was changed. Export it again.`,
  SHADOW_MISMATCH: d =>
    `The two executions differ in ${d['what']}; the node has stopped before it could sign a wrong block.${d['file'] ? ` Please report ${d['file']}.` : ''}`,
  DATABASE_BEHIND_LOG: d =>
    `The consensus log has decided block ${d['decided']}, the database ends at block ${d['head']}: blocks were lost. If the database was restored from a copy, remove the file consensus/wal and keep the watermark beside it: a validator then follows the others until it may vote. A validator that is the whole committee needs the later database.`,
}

const heightText = (height: unknown): string => (height === null ? 'not scheduled' : `at block ${String(height)}`)
const processOf = ({ pid }: Detail): string => (pid === undefined ? 'another process' : `process ${pid}`)

/** A reason may quote lines of a file. */
const sentence = (reason: unknown): string => `${String(reason).replaceAll(/\s+/g, ' ').replace(/\.$/, '')}.`

export const explainError = (detail: { readonly code: string }): string => {
  const text = TEXTS[detail.code]
  if (text) return text(detail as Detail)
  const { code, ...fields } = detail as Detail
  const rest = Object.entries(fields).map(([key, value]) => `${key} ${String(value)}`)
  return rest.length === 0 ? code : `${code}: ${rest.join(', ')}`
}

const READS: ReadonlySet<string> = new Set(['open', 'read', 'stat'])

const explainListenError = (error: ListenError): string | undefined => {
  const { code, syscall, address, hostname, port, option, freePort } = error
  if (syscall === 'getaddrinfo') return option && `${option}: ${hostname} has no address.`
  if (syscall !== 'listen' && syscall !== 'bind') return undefined
  if (code === 'EADDRINUSE')
    return `Port ${port} is in use. Stop the other program, or choose another ${option ?? '--port'}: ${freePort === undefined ? '' : `${freePort} is free, `}0 picks a free one.`
  if (code === 'EADDRNOTAVAIL') return `This machine has no address ${address}. Choose another ${option ?? '--host'}.`
  if (code === 'EACCES')
    return `Port ${port} needs more rights than this user has. Choose one above 1023 with ${option ?? '--port'}.`
  return undefined
}

/** Returns the text of an error of the operating system or of a missing package; undefined for any other error. */
export const explainSystemError = (error: ListenError): string | undefined => {
  const { code, errno, syscall, path } = error
  if (code === 'ERR_MODULE_NOT_FOUND')
    return `${error.message}. The installation is incomplete, or older than the source: run "npm ci" in the folder of the program.`
  const listening = explainListenError(error)
  if (listening !== undefined) return listening
  if (code !== undefined && isDiskError(error)) {
    const work = `${syscall === 'open' ? 'Opening' : 'Writing to'} ${path ?? 'the data folder'}`
    const [reason, remedy] =
      errno === undefined
        ? [error.message, 'Free disk space, mend the disk, or see that this user may write there']
        : [getSystemErrorMessage(errno), 'Free disk space or mend the disk']
    return `${work} failed: ${reason}. ${remedy}, then start again; nothing acknowledged is lost.`
  }
  if (path === undefined || errno === undefined) return undefined
  return `${path} cannot be ${READS.has(syscall ?? '') ? 'read' : 'used'}: ${getSystemErrorMessage(errno)}.`
}
