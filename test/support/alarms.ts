/** A slow machine makes a committee of one change its round; that is no fault of the node. */
const OF_A_SLOW_MACHINE = /"msg":"(round change, no decision yet|no decision yet, waiting)/

/** Lines of a node's JSON log that would call an operator: errors and warnings, except that a block took long. */
export const alarmsIn = (log: string): readonly string[] =>
  log.split('\n').filter(line => /"level":"(error|fatal|warn)"/.test(line) && !OF_A_SLOW_MACHINE.test(line))
