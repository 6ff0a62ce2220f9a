/** Contracts that between them do everything a transaction can do; the shadow run calls them at random. */
export const ZOO = `// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

contract Token {
  mapping(address => uint256) public balanceOf;
  mapping(address => mapping(address => uint256)) public allowance;
  uint256 public totalSupply;
  event Transfer(address indexed from, address indexed to, uint256 value);
  event Approval(address indexed owner, address indexed spender, uint256 value);
  error NotEnough(uint256 have, uint256 want);
  function mint(address to, uint256 value) external { totalSupply += value; balanceOf[to] += value; emit Transfer(address(0), to, value); }
  function transfer(address to, uint256 value) external returns (bool) { move(msg.sender, to, value); return true; }
  function approve(address to, uint256 value) external returns (bool) { allowance[msg.sender][to] = value; emit Approval(msg.sender, to, value); return true; }
  function transferFrom(address from, address to, uint256 value) external returns (bool) {
    require(allowance[from][msg.sender] >= value, "allowance"); allowance[from][msg.sender] -= value; move(from, to, value); return true; }
  function move(address from, address to, uint256 value) private {
    if (balanceOf[from] < value) revert NotEnough(balanceOf[from], value);
    balanceOf[from] -= value; balanceOf[to] += value; emit Transfer(from, to, value); }
}

contract Child {
  uint256 public a; uint256 public b;
  constructor(uint256 x) payable { a = x; b = x; if (x % 5 == 4) revert("no child"); }
  function end(address payable to) external { selfdestruct(to); }
  receive() external payable {}
}

contract Dying { constructor(address payable to) payable { selfdestruct(to); } }

contract Library { uint256 x; uint256 y; function set(uint256 v) external payable { y = v; emit Set(address(this), msg.sender, v); } event Set(address indexed a, address b, uint256 v); }

contract Zoo {
  uint256 x; uint256 y; mapping(uint256 => uint256) slots; address last; Library lib;
  event Seen(uint256 a, bytes32 b);
  event Many(uint256 indexed a, uint256 indexed b, address indexed c, bytes d);
  error Custom(uint256 a);
  constructor(Library l) payable { lib = l; }
  receive() external payable { emit Seen(msg.value, bytes32(gasleft())); }

  function store(uint256 from, uint256 count, uint256 value) external { for (uint256 i = 0; i < count % 12; i++) slots[(from + i) % 16] = value % 3; }
  function flip(uint256 at) external { uint256 o = slots[at % 16]; slots[at % 16] = 7; slots[at % 16] = 0; slots[at % 16] = o; slots[at % 16] = 9; slots[at % 16] = o; }
  function fail(uint256 how) external payable {
    x = 1; slots[3] = 5;
    if (how % 6 == 0) revert("plain words");
    if (how % 6 == 1) revert Custom(how);
    if (how % 6 == 2) assert(false);
    if (how % 6 == 3) { uint256 z = how - how; z = 1 / z; }
    if (how % 6 == 4) assembly { invalid() }
    assembly { revert(0, 100000) } }
  function spin(uint256 n) external { for (uint256 i = 0; i < n % 3000; i++) y = i; }
  function forever() external pure { while (true) {} }
  function deep(uint256 n) external payable { if (n % 80 > 0) { try this.deep{gas: gasleft() - gasleft() / 20}(n % 80 - 1) { y = n; } catch { x = n; } } }
  function make(uint256 v) external payable { try new Child{value: msg.value / 2}(v) returns (Child c) { last = address(c); } catch { x++; } }
  function make2(uint256 v, bytes32 salt) external payable { try new Child{salt: salt & bytes32(uint256(3)), value: msg.value}(v % 3) returns (Child c) { last = address(c); } catch { y++; } }
  function kill(address payable to) external { if (last != address(0)) Child(payable(last)).end(to); }
  function brief(address payable to, uint256 v) external payable { Child c = new Child{value: msg.value}(v % 4); c.end(to); (bool ok, ) = payable(address(c)).call{value: 1}(""); emit Seen(ok ? 1 : 0, bytes32(address(c).balance)); }
  function dying(address payable to) external payable { new Dying{value: msg.value}(to); }
  function selfKill(uint256 v) external payable { Child c = new Child{value: msg.value}(v % 4); c.end(payable(address(c))); }
  function delegate(uint256 v) external payable { (bool ok, ) = address(lib).delegatecall(abi.encodeCall(Library.set, (v))); emit Seen(ok ? 1 : 0, bytes32(y)); }
  function callcode(uint256 v) external payable { address l = address(lib); bytes memory d = abi.encodeCall(Library.set, (v)); assembly { pop(callcode(gas(), l, callvalue(), add(d, 32), mload(d), 0, 32)) } }
  function stat(uint256 v) external { (bool ok, bytes memory r) = address(lib).staticcall(abi.encodeCall(Library.set, (v))); emit Seen(ok ? 1 : 0, keccak256(r)); }
  function transient(uint256 k, uint256 v) external { uint256 before; uint256 back; assembly { before := tload(k) tstore(k, v) back := tload(k) } emit Seen(before, bytes32(back)); if (v % 3 == 0) revert("transient"); }
  function transientTwice(uint256 k, uint256 v) external { try this.transient(k, v) {} catch {} try this.transient(k, v + 1) {} catch {} }
  function hashes(bytes32 h, uint256 n) external {
    bytes memory d = new bytes(n % 700);
    emit Seen(uint256(sha256(d)), ripemd160(d)); emit Seen(uint160(ecrecover(h, uint8(27 + n % 3), h, bytes32(uint256(n)))), keccak256(d)); }
  function precompile(uint256 which, uint256 n, bytes32 w) external payable {
    address p = address(uint160(which % 13)); bytes memory d = new bytes(n % 260); for (uint256 i = 0; i + 32 <= d.length; i += 32) { uint256 v = i == 0 ? 1 : uint256(w) % 4; assembly { mstore(add(add(d, 32), i), v) } }
    (bool ok, bytes memory r) = p.call{value: msg.value, gas: 300000}(d); emit Seen(ok ? r.length : 9999, keccak256(r)); }
  function copies(uint256 n) external { bytes memory d = new bytes(200); assembly { mcopy(add(d, 50), add(d, 20), mod(n, 120)) calldatacopy(add(d, 40), mod(n, 9), mod(n, 50)) codecopy(add(d, 60), mod(n, 500), 31) extcodecopy(caller(), add(d, 35), 0, 5) }
    (, bytes memory r) = address(this).staticcall(abi.encodeWithSignature("nothing()")); emit Many(n, d.length, address(this), d); emit Seen(r.length, keccak256(d)); }
  function look(address who) external { emit Seen(who.balance, who.codehash); emit Seen(who.code.length, bytes32(address(this).balance)); emit Seen(tx.gasprice, bytes32(block.basefee)); emit Seen(block.number, blockhash(block.number - 1)); emit Seen(block.timestamp, bytes32(block.prevrandao)); emit Seen(block.gaslimit, bytes32(uint256(uint160(address(block.coinbase))))); emit Seen(block.chainid, bytes32(block.blobbasefee)); emit Seen(msg.sender.balance, blobhash(0)); emit Seen(gasleft(), bytes32(uint256(uint160(tx.origin)))); emit Seen(uint256(blockhash(block.number - 300)), blockhash(block.number)); }
  function pay(address payable to, uint256 v) external payable { (bool ok, ) = to.call{value: v % 1000}(""); emit Seen(ok ? 1 : 0, bytes32(to.balance)); bool sent = to.send(1); emit Seen(sent ? 1 : 0, bytes32(gasleft())); }
  function logs(uint256 n) external { assembly { log0(0, mod(n, 70)) log1(3, 5, n) log2(0, 0, n, 1) log3(1, 33, n, 1, 2) log4(0, 64, n, 1, 2, 3) } }
  function nested(uint256 v) external payable { try this.nestedInner{value: msg.value / 2, gas: 200000}(v) {} catch (bytes memory e) { emit Seen(e.length, keccak256(e)); } slots[v % 16] = v % 4; }
  function nestedInner(uint256 v) external payable { slots[v % 16] = 8; last = address(new Child{value: msg.value}(1)); lib.set(v); emit Seen(v, 0); if (v % 2 == 0) revert Custom(v); }
  function bigMemory(uint256 n) external pure returns (bytes32 h) { assembly { h := keccak256(0, mod(n, 400000)) } }
  function huge(uint256 n) external pure { assembly { mstore(n, 1) } }
  function arithmetic(uint256 a, uint256 b) external { unchecked { emit Seen(a * b + a ** (b % 9), bytes32(b == 0 ? 0 : a / b)); } emit Seen(mulmod(a, b, a | 1), bytes32(addmod(a, b, b | 1))); int256 s = int256(a); int256 t = int256(b | 1); unchecked { emit Seen(uint256(s / t), bytes32(uint256(s % t))); emit Seen(uint256(s >> (b % 300)), bytes32(a << (b % 300))); } assembly { let q := signextend(mod(b, 33), a) log1(0, 0, q) log1(0, 0, byte(mod(b, 34), a)) log1(0, 0, sdiv(a, b)) log1(0, 0, slt(a, b)) } }
}
`
