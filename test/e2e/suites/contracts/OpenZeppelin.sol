// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Ownable, Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {UUPSUpgradeable} from "@openzeppelin/contracts/proxy/utils/UUPSUpgradeable.sol";
import {Initializable} from "@openzeppelin/contracts/proxy/utils/Initializable.sol";
import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";
import {ERC20, ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";
import {ERC2771Context} from "@openzeppelin/contracts/metatx/ERC2771Context.sol";
import {Create2} from "@openzeppelin/contracts/utils/Create2.sol";
import {RSA} from "@openzeppelin/contracts/utils/cryptography/RSA.sol";
import {Multicall} from "@openzeppelin/contracts/utils/Multicall.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";

contract Owned is Ownable2Step {
    constructor(address first) Ownable(first) {}
}

contract Coin is ERC20Permit {
    constructor(address holder, uint256 supply) ERC20("Coin", "C") ERC20Permit("Coin") {
        _mint(holder, supply);
    }

    function burn(uint256 value) external {
        _burn(msg.sender, value);
    }
}

/// Counter behind a proxy; each version names itself.
contract Counter is Initializable, UUPSUpgradeable {
    error NotOwner(address caller);

    address public owner;
    uint256 public count;

    function initialize(address first, uint256 start) external initializer {
        owner = first;
        count = start;
    }

    function version() external pure virtual returns (string memory) {
        return "one";
    }

    function add(uint256 by) external {
        count += by;
    }

    function _authorizeUpgrade(address) internal view override {
        if (msg.sender != owner) revert NotOwner(msg.sender);
    }
}

contract CounterTwo is Counter {
    function version() external pure override returns (string memory) {
        return "two";
    }

    function double() external {
        count *= 2;
    }
}

contract Recipient is ERC2771Context {
    event Called(address sender, bytes data, uint256 value);

    constructor(address forwarder) ERC2771Context(forwarder) {}

    function touch(uint256) external payable {
        emit Called(_msgSender(), _msgData(), msg.value);
    }

    function refuse() external pure {
        revert("refused");
    }
}

contract Tools is Multicall, ReentrancyGuard {
    error TooSmall(uint256 given);

    event Stored(uint256 value);

    uint256 public total;

    function store(uint256 value) external {
        if (value == 0) revert TooSmall(value);
        total += value;
        emit Stored(value);
    }

    function guarded(uint256 depth) external nonReentrant {
        if (depth > 0) this.guarded(depth - 1);
        total += 1;
    }

    function deploy(uint256 value, bytes32 salt, bytes calldata code) external payable returns (address) {
        return Create2.deploy(value, salt, code);
    }

    function addressOf(bytes32 salt, bytes32 codeHash) external view returns (address) {
        return Create2.computeAddress(salt, codeHash);
    }

    function clone(address implementation, bytes32 salt) external returns (address) {
        return Clones.cloneDeterministic(implementation, salt);
    }

    function cloneOf(address implementation, bytes32 salt) external view returns (address) {
        return Clones.predictDeterministicAddress(implementation, salt);
    }

    receive() external payable {}
}

contract Signatures {
    function verify(bytes32 digest, bytes memory s, bytes memory e, bytes memory n) external view returns (bool) {
        return RSA.pkcs1Sha256(digest, s, e, n);
    }
}
