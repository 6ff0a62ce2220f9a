// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// Price of the native token on the chain, for `--explorer-price` and for contracts (the interface AggregatorV3).
/// Reporters each report a price. A report makes a round whose answer is the middle of the reporters' last prices that are young enough,
/// provided that enough of them are. The owner names the reporters.
contract PriceOracle {
    struct Round {
        int256 answer;
        uint256 updatedAt;
    }

    struct Report {
        int256 price;
        uint256 at;
    }

    uint8 public constant decimals = 8;
    uint256 public constant version = 1;
    string public description;
    uint256 public immutable maxAge;
    uint256 public immutable quorum;
    address public owner;
    uint80 public latestRound;
    address[] private reporters;

    mapping(uint80 => Round) private rounds;
    mapping(address => Report) private reports;

    event AnswerUpdated(int256 indexed current, uint256 indexed roundId, uint256 updatedAt);
    event ReportersChanged(address[] reporters);

    error NotOwner();
    error NotReporter();
    error PriceNotPositive();
    error NoRound();
    error TooManyReporters();

    constructor(string memory pair, uint256 age, uint256 least, address[] memory first) {
        description = pair;
        maxAge = age;
        quorum = least;
        owner = msg.sender;
        _setReporters(first);
    }

    function setReporters(address[] calldata next) external {
        if (msg.sender != owner) revert NotOwner();
        _setReporters(next);
    }

    function transferOwnership(address next) external {
        if (msg.sender != owner) revert NotOwner();
        owner = next;
    }

    /// Without enough young prices the report is kept and makes no round.
    function report(int256 price) external {
        if (price <= 0) revert PriceNotPositive();
        int256[] memory prices = new int256[](reporters.length);
        uint256 count = 0;
        bool known = false;
        for (uint256 i = 0; i < reporters.length; i++) {
            address reporter = reporters[i];
            if (reporter == msg.sender) {
                known = true;
                reports[reporter] = Report(price, block.timestamp);
            }
            Report memory last = reports[reporter];
            if (last.at + maxAge < block.timestamp || last.at == 0) continue;
            // Kept in order.
            uint256 at = count++;
            for (; at > 0 && prices[at - 1] > last.price; at--) prices[at] = prices[at - 1];
            prices[at] = last.price;
        }
        if (!known) revert NotReporter();
        if (count < quorum) return;
        int256 answer = count % 2 == 1 ? prices[count / 2] : (prices[count / 2 - 1] + prices[count / 2]) / 2;
        rounds[++latestRound] = Round(answer, block.timestamp);
        emit AnswerUpdated(answer, latestRound, block.timestamp);
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        return getRoundData(latestRound);
    }

    function getRoundData(uint80 roundId) public view returns (uint80, int256, uint256, uint256, uint80) {
        Round memory round = rounds[roundId];
        if (round.updatedAt == 0) revert NoRound();
        return (roundId, round.answer, round.updatedAt, round.updatedAt, roundId);
    }

    function getReporters() external view returns (address[] memory) {
        return reporters;
    }

    /// Prices of those who are reporters no more are forgotten.
    function _setReporters(address[] memory next) private {
        if (next.length > 32) revert TooManyReporters();
        for (uint256 i = 0; i < reporters.length; i++) delete reports[reporters[i]];
        reporters = next;
        emit ReportersChanged(next);
    }
}
