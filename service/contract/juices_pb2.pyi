from sodafountain.v1.juices_pb2 import *
