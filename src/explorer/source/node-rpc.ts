/** Way to the JSON-RPC interface of the node, as its clients see it. */
export interface NodeRpc {
  /** Answers a JSON-RPC request by a JSON-RPC response. */
  rpc(request: string): Promise<string>
}
