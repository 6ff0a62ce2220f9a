import { assert } from '@tandem/base/assert.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import type { TrieLayers } from './layers.ts'
import type { TrieError, TrieProof, TrieStats } from './types.ts'

/** Request to the trie's thread. Buffers are transferred. */
export type TrieCall =
  | { readonly op: 'load'; readonly batch: ArrayBuffer }
  | { readonly op: 'apply'; readonly parentRoot: Hex; readonly batch: ArrayBuffer }
  | { readonly op: 'commit'; readonly root: Hex }
  | {
      readonly op: 'prove'
      readonly root: Hex
      readonly address: Hex
      readonly slots: readonly Hex[]
      readonly rollback: ArrayBuffer | undefined
    }
  | {
      readonly op: 'preview'
      readonly root: Hex
      readonly batches: readonly ArrayBuffer[]
      readonly rollback: ArrayBuffer | undefined
    }
  | { readonly op: 'stats' }

export type TrieValue =
  | { readonly op: 'root' }
  | { readonly op: 'apply'; readonly storageRoots: ArrayBuffer }
  | { readonly op: 'prove'; readonly proof: TrieProof }
  | { readonly op: 'preview'; readonly roots: ArrayBuffer }
  | { readonly op: 'stats'; readonly stats: TrieStats }

/** `root` is the position of the trie after the call. */
export type TrieAnswer =
  | { readonly root: Hex; readonly value: TrieValue; readonly error?: undefined }
  | { readonly root: Hex; readonly error: TrieError }

/** Methods of the trie's worker. */
export type TrieMethods = { readonly execute: (call: TrieCall) => TrieAnswer }

/** Executes one call; expected failures are returned, any other error is thrown and means that the trie is unusable. */
export const executeTrieCall = (layers: TrieLayers, call: TrieCall): TrieAnswer => {
  try {
    const value = execute(layers, call)
    return { root: layers.root, value }
  } catch (error) {
    if (!(error instanceof CodedError)) throw error
    return { root: layers.root, error: (error as CodedError<TrieError>).detail }
  }
}

const execute = (layers: TrieLayers, call: TrieCall): TrieValue => {
  switch (call.op) {
    case 'load':
      layers.load(new Uint8Array(call.batch))
      return { op: 'root' }
    case 'apply': {
      const { storageRoots } = layers.apply(call.parentRoot, new Uint8Array(call.batch))
      return { op: 'apply', storageRoots: storageRoots.buffer }
    }
    case 'commit':
      layers.commit(call.root)
      return { op: 'root' }
    case 'prove': {
      const rollback = call.rollback && new Uint8Array(call.rollback)
      return { op: 'prove', proof: layers.prove(call.root, call.address, call.slots, rollback) }
    }
    case 'preview': {
      const rollback = call.rollback && new Uint8Array(call.rollback)
      const batches = call.batches.map(batch => new Uint8Array(batch))
      return { op: 'preview', roots: layers.preview(call.root, batches, rollback).buffer }
    }
    case 'stats':
      return { op: 'stats', stats: layers.stats() }
  }
}

export const transferableBuffers = (call: TrieCall): ArrayBuffer[] => {
  if (call.op === 'load' || call.op === 'apply') return [call.batch]
  if (call.op !== 'prove' && call.op !== 'preview') return []
  const batches = call.op === 'preview' ? call.batches : []
  return call.rollback === undefined ? [...batches] : [...batches, call.rollback]
}

/** Returns the value of a response as the expected kind. */
export const expectTrieValue = <Op extends TrieValue['op']>(
  value: TrieValue,
  op: Op,
): Extract<TrieValue, { op: Op }> => {
  assert(value.op === op, `the trie answers ${op}`)
  return value as Extract<TrieValue, { op: Op }>
}
