import { silentLogger } from '@tandem/base/logger.ts'
import { createInterpreter } from '../../../../devtools/interpreter/engine.ts'
import type { Engine } from '../../../../src/evm/engine.ts'
import { createEthereumJsEngine } from '../../../../src/evm/engines/ethereumjs/engine.ts'
import { createExecutor } from '../../../../src/evm/engines/executor.ts'
import { loadEngine } from '../../../../src/evm/engines/select-engine.ts'
import type { Executor } from '../../../../src/evm/executor-types.ts'

/** Ways to run a message, for tests that hold each of them to the same. */
export const ENGINES = ['wasm', 'interpreter', 'ethereumjs'] as const
type EngineOfTests = (typeof ENGINES)[number]

export const engineOf = async (name: EngineOfTests): Promise<Engine> => {
  if (name === 'interpreter') return createInterpreter()
  return name === 'wasm' ? loadEngine(name) : createEthereumJsEngine()
}

/** Executes blocks with an engine; EthereumJS in its VM. */
export const executorOf = (name: EngineOfTests): Executor =>
  name === 'interpreter'
    ? createExecutor({ mode: 'wasm', engine: createInterpreter(), logger: silentLogger })
    : createExecutor({ mode: name, logger: silentLogger })
