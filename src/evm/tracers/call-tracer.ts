import { assert } from '@tandem/base/assert.ts'
import type { Tracer } from '../tracer.ts'
import { type CallFrame, CallTree, type FrameLog } from './call-frames.ts'
import type { CallTracerConfig } from './config.ts'
import { dataJson, objectJson, quantityJson, quotedJson, type TracerContext } from './tracer-context.ts'

/** Members before the inner calls, without the closing brace. */
const headJson = ({ from, gas, gasUsed, to, input, output, error, revertReason }: CallFrame): string =>
  objectJson({
    from: quotedJson(from),
    gas: quantityJson(gas),
    gasUsed: quantityJson(gasUsed),
    to: quotedJson(to),
    input: quotedJson(input),
    output: quotedJson(output),
    error: quotedJson(error),
    revertReason: quotedJson(revertReason),
  }).slice(0, -1)

const logJson = ({ address, topics, data, index, position }: FrameLog): string =>
  objectJson({
    address: quotedJson(address),
    topics: JSON.stringify(topics),
    data: dataJson(data),
    index: quantityJson(index),
    position: quantityJson(position),
  })

const tailJson = ({ logs, value, type }: CallFrame): string => {
  const logsText = logs.length === 0 ? '' : `,"logs":[${logs.map(logJson).join(',')}]`
  const valueText = value === undefined ? '' : `,"value":${quantityJson(value)}`
  return `${logsText}${valueText},"type":"${type}"}`
}

/** Yields pieces without recursion: frames nest a thousand deep. */
function* treeJson(root: CallFrame): Iterable<string> {
  const path = [{ frame: root, next: 0 }]
  yield headJson(root)
  for (let at = path.at(-1); at !== undefined; at = path.at(-1)) {
    const { frame } = at
    const call = frame.calls[at.next++]
    if (call === undefined) {
      yield (frame.calls.length > 0 ? ']' : '') + tailJson(frame)
      path.pop()
    } else {
      yield (at.next === 1 ? ',"calls":[' : ',') + headJson(call)
      path.push({ frame: call, next: 0 })
    }
  }
}

/** callTracer of geth: the tree of calls. */
export const createCallTracer = (config: CallTracerConfig, { memory }: TracerContext): Tracer => {
  let tree: CallTree | undefined
  return {
    begin(transaction) {
      tree = new CallTree({ memory, onlyTop: config.onlyTopCall, withLogs: config.withLog }, transaction)
    },
    enter: frame => tree?.enter(frame),
    log: log => tree?.log(log),
    exit: frame => void tree?.exit(frame),
    end: end => tree?.end(end),
    result() {
      assert(tree?.root !== undefined, 'a transaction has a message')
      return treeJson(tree.root)
    },
  }
}
